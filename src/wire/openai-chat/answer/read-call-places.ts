/** Which call a fragment goes on with, whichever way a server numbers and names its calls. */
import { createHash } from "node:crypto";
import { upstreamFailed } from "../../error/refusals.js";
import type { ExactJson } from "../../json/exact.js";
import { type JsonObject, objectOf, textOf } from "../../json/value.js";

const CALLS_MAX = 1024;

/** What tells a call from the others. */
export interface CallPlace {
  /** Its place among the candidate's calls, dense. */
  readonly index: number;
  /** Its number as the server says it; undefined where it says none. */
  readonly told: number | undefined;
  readonly id: string;
  name: string;
  /** The list of fragments that told of it last, by its number. */
  list: number;
}

/** A fragment of a call, by what counts. */
export interface CallFragment {
  readonly index: unknown;
  readonly id: string;
  readonly name: string;
  readonly custom: boolean;
  /** The function or the tool of free text, as the server tells it. */
  readonly called: JsonObject;
}

/** A call is of the type that it says: some servers send an empty one of the other type beside it. */
export function readFragment(fragment: JsonObject): CallFragment {
  const custom = objectOf(fragment["custom"]);
  const called = objectOf(fragment["function"]);
  const type = fragment["type"];
  const isCustom = type === "custom" || (type !== "function" && custom !== undefined && isSomething(custom, called));
  const told = (isCustom ? custom : called) ?? {};
  return {
    index: fragment["index"],
    id: textOf(fragment["id"]),
    name: textOf(told["name"]),
    custom: isCustom,
    called: told,
  };
}

/** True where the tool of free text says something, or no function does. */
function isSomething(custom: JsonObject, called: JsonObject | undefined): boolean {
  return called === undefined || textOf(custom["name"]) !== "" || textOf(custom["input"]) !== "";
}

/** The calls of one candidate. */
export class CallPlaces<Call extends CallPlace> {
  readonly all: Call[] = [];
  /** The last call of a number that the server says, and of an id. Most answers call nothing. */
  private byNumber: Map<number, Call> | undefined;
  private byId: Map<string, Call> | undefined;
  /** How many lists of fragments came. */
  private lists = 0;

  /** A list of fragments comes: two of it that have names are two calls, whatever their ids and numbers are. */
  beginList(): void {
    this.lists += 1;
  }

  /** The call that a fragment goes on with; undefined where it opens one. */
  find({ index, id, name }: Pick<CallFragment, "index" | "id" | "name">): Call | undefined {
    const last = this.all.at(-1);
    let call: Call | undefined;
    if (typeof index === "number") call = this.byNumber?.get(index);
    else if (id !== "") call = this.byId?.get(id);
    else call = name !== "" && last !== undefined && last.name !== "" ? undefined : last;
    // Some servers give every call the same number: another id with a name is another call.
    const isAnother = call !== undefined && id !== "" && name !== "" && call.id !== "" && call.id !== id;
    const isTwin = call?.list === this.lists && name !== "" && call.name !== "";
    if (call === undefined || isAnother || isTwin) return undefined;
    call.list = this.lists;
    return call;
  }

  add(call: Call): Call {
    if (this.all.length === CALLS_MAX) throw upstreamFailed("it called too many tools");
    call.list = this.lists;
    this.all.push(call);
    if (call.told !== undefined) (this.byNumber ??= new Map()).set(call.told, call);
    return call;
  }

  /** Gives a call its id, where it has none yet. */
  name(call: Call & { id: string }, id: string): void {
    if (call.id !== "" || id === "") return;
    call.id = id;
    const byId = (this.byId ??= new Map());
    const known = byId.get(id);
    if (known === undefined || known.index < call.index) byId.set(id, call);
  }
}

/** An id for a call that came without one: of the answer and the call, so that two calls of a tool never share it. */
export function madeCallId(answerId: string, candidate: number, index: number): string {
  const hash = createHash("sha256").update(`${answerId} ${candidate} ${index}`).digest("hex");
  return `call_${hash.slice(0, 24)}`;
}

/** Arguments are text; some servers send the object itself, of which `exact` tells how they wrote it. */
export function argumentsText(called: JsonObject, key: string, exact?: () => ExactJson): string {
  const value = called[key];
  if (typeof value !== "object" || value === null) return textOf(value);
  return exact === undefined ? JSON.stringify(value) : exact().textOf(value);
}
