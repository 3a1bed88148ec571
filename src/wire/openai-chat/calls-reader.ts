/** Puts the fragments of tool calls together, whichever way a server numbers and names them. */
import { createHash } from "node:crypto";
import { GatewayError } from "../../errors.js";
import { type JsonObject, objectOf, textOf } from "../json/value.js";
import { kept } from "../kept-text.js";
import type { CandidateCollector } from "./candidate-reader.js";

const CALLS_MAX = 1024;

interface Call {
  /** Its place among the candidate's calls, dense. */
  readonly index: number;
  /** Its number as the server says it; undefined where it says none. */
  readonly told: number | undefined;
  readonly custom: boolean;
  id: string;
  name: string;
  signature: string | undefined;
  hasStarted: boolean;
  /** Arguments that came before the name did. */
  pending: string;
}

export class CallsReader {
  private readonly calls: Call[] = [];
  /** The call in the older form, of which a candidate has one. */
  private functionCall: Call | undefined;

  constructor(
    private readonly candidate: number,
    private readonly answerId: string,
    private readonly collector: CandidateCollector,
  ) {}

  get hasCalls(): boolean {
    return this.calls.length > 0;
  }

  /** Reads one fragment of a call, or a whole one. */
  read(fragment: JsonObject | undefined): void {
    if (fragment === undefined) return;
    const custom = objectOf(fragment["custom"]);
    const called = custom ?? objectOf(fragment["function"]) ?? {};
    const id = textOf(fragment["id"]);
    const told = textOf(called["name"]);
    const name = this.collector.names.get(told) ?? told;
    const call = this.find(fragment["index"], id, name) ?? this.open(fragment["index"], custom !== undefined);
    call.id ||= id;
    const google = objectOf(objectOf(fragment["extra_content"])?.["google"]);
    call.signature ??= textOf(google?.["thought_signature"]) || undefined;
    this.goOn(call, name, argumentsText(called["arguments"] ?? called["input"]));
  }

  readFunctionCall(fragment: JsonObject): void {
    this.functionCall ??= this.open(undefined, false);
    this.goOn(this.functionCall, textOf(fragment["name"]), argumentsText(fragment["arguments"]));
  }

  /** Nothing follows: calls whose name never came are told without one. */
  finish(): void {
    for (const call of this.calls) if (!call.hasStarted) this.start(call);
  }

  /** The call that a fragment goes on with; undefined where it opens one. */
  private find(index: unknown, id: string, name: string): Call | undefined {
    const last = this.calls.at(-1);
    let call: Call | undefined;
    if (typeof index === "number") call = this.calls.findLast((known) => known.told === index);
    else if (id !== "") call = this.calls.findLast((known) => known.id === id);
    else call = name !== "" && last !== undefined && last.name !== "" ? undefined : last;
    // Some servers give every call the same number: another id with a name is another call.
    const isAnother = call !== undefined && id !== "" && name !== "" && call.id !== "" && call.id !== id;
    return isAnother ? undefined : call;
  }

  private open(told: unknown, custom: boolean): Call {
    if (this.calls.length === CALLS_MAX)
      throw new GatewayError("ERROR_REASON_UPSTREAM_FAILED", { problem: "it called too many tools" });
    const call: Call = {
      index: this.calls.length,
      told: typeof told === "number" ? told : undefined,
      custom,
      id: "",
      name: "",
      signature: undefined,
      hasStarted: false,
      pending: "",
    };
    this.calls.push(call);
    return call;
  }

  private goOn(call: Call, name: string, fragment: string): void {
    if (call.name === "" && name !== "") {
      call.name = name;
      this.collector.addText(name);
    }
    this.collector.addText(fragment);
    if (!this.collector.isTyped) return;
    if (!call.hasStarted && call.name !== "") this.start(call);
    if (!call.hasStarted) call.pending = kept(call.pending, fragment);
    else this.addArguments(call, fragment);
  }

  private start(call: Call): void {
    call.hasStarted = true;
    const { index, custom, name, signature } = call;
    const id = call.id || this.madeId(index);
    const value = { candidate: this.candidate, index, id, name, custom, signature };
    this.collector.add({ kind: { $case: "toolCallStart", value } });
    this.addArguments(call, call.pending);
    call.pending = "";
  }

  private addArguments(call: Call, fragment: string): void {
    if (fragment === "") return;
    const value = { candidate: this.candidate, index: call.index, arguments: fragment };
    this.collector.add({ kind: { $case: "toolCallDelta", value } });
  }

  /** An id for a call that came without one: of the answer and the call, so that two calls of a tool never share it. */
  private madeId(index: number): string {
    const hash = createHash("sha256").update(`${this.answerId} ${this.candidate} ${index}`).digest("hex");
    return `call_${hash.slice(0, 24)}`;
  }
}

/** Arguments are text; some servers send the object itself. */
function argumentsText(value: unknown): string {
  return typeof value === "object" && value !== null ? JSON.stringify(value) : textOf(value);
}
