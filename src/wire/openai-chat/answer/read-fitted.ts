/**
 * Answers of upstreams that are not quite what clients of the wire are promised: read, and written anew where they
 * differ. What fits is left alone, and what the dialect adds stands in members of its own.
 */
import { FinishReason } from "../../../api/index.js";
import { upstreamFailed } from "../../error/refusals.js";
import { type JsonObject, listOf, objectOf, textOf } from "../../json/value.js";
import { ExactJson } from "../../json/exact.js";
import { kept } from "../../answer/kept-text.js";
import { argumentsText, type CallPlace, CallPlaces, madeCallId, readFragment } from "./read-call-places.js";
import { endingOf } from "../../answer/finish-words.js";
import { finishName } from "./finish.js";
import { contentMembers } from "./read-content.js";
import { newWords, saysMore } from "../../openai/answer/read-said.js";
import { toldCallIds } from "../../request/told-calls.js";
import { UniqueNames } from "../../request/unique-names.js";
import type { WireRequest } from "../../wire.js";

const CANDIDATES_MAX = 128;
const ROLE = "assistant";
/** What a whole answer and a chunk say they are. */
const WHOLE = "chat.completion";
const CHUNK = "chat.completion.chunk";

interface Call extends CallPlace {
  id: string;
  /** The id that the client is told; empty until it is. */
  toldId: string;
  isTold: boolean;
  /** Arguments that came before the name did. */
  pending: string;
}

/** What is known of a candidate whose chunks come one by one. */
interface Candidate {
  readonly index: number;
  readonly calls: CallPlaces<Call>;
  /** The ids of calls, those of the conversation among them; absent until one is called. */
  ids: UniqueNames | undefined;
  hasRole: boolean;
  /** True once it said more than who speaks. */
  hasSaid: boolean;
  /** True once its end was told. */
  hasEnded: boolean;
  /** True where a call in the older form was told. */
  hasFunctionCall: boolean;
}

const ENDS: ReadonlySet<unknown> = new Set(["stop", "length", "tool_calls", "content_filter", "function_call"]);

/** Fits one answer: its chunks in their order, or all of it at once. */
export class AnswerFitter {
  private readonly candidates = new Map<unknown, Candidate>();
  private answerId = "";
  /** What is fitted now, and the bytes that it was parsed from. */
  private told: JsonObject = {};
  private data: Buffer | undefined;

  /** `asked` is the conversation that the answer goes on with. */
  constructor(private readonly asked: WireRequest | undefined) {}

  /** The chunk as clients are promised it; the same object where it is so already. */
  chunk(chunk: JsonObject, data: Buffer): JsonObject {
    return this.fit(chunk, data, "delta");
  }

  /** The same of a whole answer. */
  whole(answer: JsonObject, data: Buffer): JsonObject {
    return this.fit(answer, data, "message");
  }

  private fit(told: JsonObject, data: Buffer, key: "delta" | "message"): JsonObject {
    this.told = told;
    this.data = data;
    const choices = told["choices"];
    if (!Array.isArray(choices)) return key === "delta" ? { ...told, choices: [] } : told;
    if (this.answerId === "" && choices.length > 0) this.answerId = `${textOf(told["id"])} ${String(told["created"])}`;
    let fitted: unknown[] | undefined;
    for (let place = 0; place < choices.length; place++) {
      const choice = objectOf(choices[place]);
      if (choice === undefined) continue;
      const fit = this.choice(choice, place, key);
      if (fit === choice) continue;
      fitted ??= [...choices];
      fitted[place] = fit;
    }
    if (fitted?.includes(undefined) === true) fitted = fitted.filter((choice) => choice !== undefined);
    // The last chunk of some streams holds a whole answer, and calls itself one.
    const named = key === "delta" && told["object"] === WHOLE ? { ...told, object: CHUNK } : told;
    return fitted === undefined ? named : { ...named, choices: fitted };
  }

  /** The choice as it fits; undefined where it tells what was told, behind its end. */
  private choice(choice: JsonObject, place: number, key: "delta" | "message"): JsonObject | undefined {
    const told = choice["index"];
    const known = this.candidates.get(told);
    const plain = key === "delta" && known !== undefined ? plainDelta(choice) : undefined;
    if (known !== undefined && plain !== undefined) {
      known.hasSaid ||= saysMore(plain);
      return choice;
    }
    const index = typeof told === "number" ? told : place;
    const candidate = this.candidateOf(index);
    const edits: Record<string, unknown> = {};
    if (told !== index) edits["index"] = index;
    if (key === "delta" && choice["message"] !== undefined) {
      if (candidate.hasSaid && candidate.hasEnded) return undefined;
      edits["message"] = undefined;
    }
    const message = key === "delta" ? newWords(choice, candidate.hasSaid) : objectOf(choice["message"]);
    const fitted = this.message(message ?? {}, candidate, key);
    if (fitted !== choice[key]) edits[key] = fitted;
    candidate.hasSaid ||= saysMore(fitted);
    const reason = choice["finish_reason"];
    const end = endOf(reason, candidate);
    if (end !== reason) edits["finish_reason"] = end;
    candidate.hasEnded ||= end !== null;
    if (key === "message" && choice["logprobs"] === undefined) edits["logprobs"] = null;
    return withEdits(choice, edits);
  }

  private candidateOf(index: number): Candidate {
    const known = this.candidates.get(index);
    if (known !== undefined) return known;
    if (this.candidates.size === CANDIDATES_MAX) throw upstreamFailed("its answer has too many candidates");
    const made = {
      index,
      calls: new CallPlaces<Call>(),
      ids: undefined,
      hasRole: false,
      hasSaid: false,
      hasEnded: false,
      hasFunctionCall: false,
    };
    this.candidates.set(index, made);
    return made;
  }

  private message(message: JsonObject, candidate: Candidate, key: "delta" | "message"): JsonObject {
    const edits: Record<string, unknown> = {};
    // A strict client refuses the whole chunk for a role that is none, such as an empty one.
    if (message["role"] !== ROLE && (!candidate.hasRole || message["role"] !== undefined))
      edits["role"] = candidate.hasRole ? undefined : ROLE;
    candidate.hasRole = true;
    const { content } = message;
    if (Array.isArray(content)) Object.assign(edits, contentMembers(message, content, key === "message"));
    else if (key === "message" && content === undefined) edits["content"] = null;
    if (key === "message" && message["refusal"] === undefined) edits["refusal"] ??= null;
    const older = objectOf(message["function_call"]);
    if (older !== undefined) {
      if (textOf(older["name"]) === "" && argumentsText(older, "arguments") === "") edits["function_call"] = undefined;
      else candidate.hasFunctionCall = true;
    }
    const calls = message["tool_calls"];
    if (Array.isArray(calls)) {
      const fitted = this.calls(calls, candidate, key === "delta");
      if (fitted !== calls) edits["tool_calls"] = fitted.length === 0 ? undefined : fitted;
    }
    return withEdits(message, edits);
  }

  private calls(calls: readonly unknown[], candidate: Candidate, isDelta: boolean): readonly unknown[] {
    candidate.calls.beginList();
    const fitted = listOf(calls).flatMap((call) => {
      const fragment = objectOf(call);
      const fit = fragment && this.call(fragment, candidate, isDelta);
      return fit === undefined ? [] : [fit];
    });
    const isSame = fitted.length === calls.length && fitted.every((call, place) => call === calls[place]);
    return isSame && calls.length > 0 ? calls : fitted;
  }

  /** A fragment as it fits; undefined where it says nothing yet. Without a name it is no call. */
  private call(fragment: JsonObject, candidate: Candidate, isDelta: boolean): JsonObject | undefined {
    const { index, id, name, custom, called } = readFragment(fragment);
    const { calls } = candidate;
    const place = calls.all.length;
    const told = typeof index === "number" ? index : undefined;
    const call =
      calls.find({ index, id, name }) ??
      calls.add({ index: place, told, id: "", toldId: "", name: "", list: 0, isTold: false, pending: "" });
    calls.name(call, id);
    call.name ||= name;
    const key = custom ? "input" : "arguments";
    const text = argumentsText(called, key, () => new ExactJson(this.told, this.data));
    if (call.name === "") {
      call.pending = kept(call.pending, text);
      return undefined;
    }
    const kind = custom ? "custom" : "function";
    const edits: Record<string, unknown> = { [custom ? "function" : "custom"]: undefined };
    if (isDelta && index !== call.index) edits["index"] = call.index;
    const isOpening = !call.isTold;
    call.isTold = true;
    if (isOpening) {
      const isTaken = calls.all.some((other) => other !== call && other.isTold && other.id === call.id);
      const isNew = call.id !== "" && !isTaken;
      call.toldId = isNew ? this.unused(call.id, candidate) : madeCallId(this.answerId, candidate.index, call.index);
      Object.assign(edits, { id: call.toldId, type: kind });
      edits[kind] = withEdits(called, { name: call.name, [key]: call.pending + text });
      call.pending = "";
    } else {
      // What an opening told is told once: a client's helper takes anything else for another call.
      if (fragment["id"] !== call.toldId) edits["id"] = undefined;
      if (fragment["type"] !== kind) edits["type"] = undefined;
      const told = called[key] === undefined ? undefined : text;
      edits[kind] = withEdits(called, { name: name === call.name ? name : undefined, [key]: told });
    }
    return withEdits(fragment, edits);
  }

  /** Some servers count their calls anew in every answer, and clients pair results with calls by the id alone. */
  private unused(id: string, candidate: Candidate): string {
    candidate.ids ??= new UniqueNames({}, toldCallIds(this.asked));
    return candidate.ids.claim(id);
  }
}

/** The delta of a choice that says no more than a text, which nearly all do; undefined of another. */
function plainDelta(choice: JsonObject): JsonObject | undefined {
  const delta = objectOf(choice["delta"]);
  if (delta === undefined || choice["finish_reason"] !== null || choice["message"] !== undefined) return undefined;
  if (Array.isArray(delta["content"]) || (delta["role"] !== undefined && delta["role"] !== ROLE)) return undefined;
  return delta["tool_calls"] === undefined && delta["function_call"] === undefined ? delta : undefined;
}

/** Why it ended, in a word that clients know and that fits what came. */
function endOf(reason: unknown, { calls, hasFunctionCall }: Candidate): unknown {
  if (typeof reason !== "string" || reason === "") return null;
  const hasCalls = calls.all.some(({ isTold }) => isTold);
  const word = ENDS.has(reason) ? reason : wordOf(reason);
  if (word === "stop" && hasCalls) return "tool_calls";
  return word === "tool_calls" && !hasCalls ? (hasFunctionCall ? "function_call" : "stop") : word;
}

/** Null for a failure, which is told as an error. */
function wordOf(reason: string): string | null {
  const ending = endingOf(reason, FinishReason.FINISH_REASON_END);
  return ending === "failed" || ending === FinishReason.FINISH_REASON_MALFORMED ? null : finishName(ending, false);
}

/** The object with the edits made; undefined takes a member away. The same object where nothing differs. */
function withEdits(object: JsonObject, edits: Readonly<Record<string, unknown>>): JsonObject {
  let made: Record<string, unknown> | undefined;
  for (const key in edits) {
    const value = edits[key];
    if (object[key] === value && (value !== undefined || !(key in object))) continue;
    made ??= { ...object };
    if (value === undefined) delete made[key];
    else made[key] = value;
  }
  return made ?? object;
}
