/** Puts the fragments of tool calls together into steps. */
import { type JsonObject, objectOf, textOf } from "../../json/value.js";
import { kept } from "../../answer/kept-text.js";
import { argumentsText, type CallPlace, CallPlaces, madeCallId, readFragment } from "./read-call-places.js";
import { CALL_KINDS } from "../events/kinds.js";
import type { CandidateCollector } from "./read-candidate.js";
import { isBuiltIn } from "./read-tools.js";

interface Call extends CallPlace {
  id: string;
  readonly custom: boolean;
  signature: string | undefined;
  hasStarted: boolean;
  /** Arguments that came before the name did. */
  pending: string;
}

export class CallsReader {
  private readonly calls = new CallPlaces<Call>();
  /** The call in the older form, of which a candidate has one. */
  private functionCall: Call | undefined;
  /** True once a call has a name: without one it is none. */
  hasCalls = false;

  constructor(
    private readonly candidate: number,
    private readonly answerId: string,
    private readonly collector: CandidateCollector,
  ) {}

  /** Reads a list of fragments, or of whole calls. */
  readList(fragments: readonly unknown[]): void {
    this.calls.beginList();
    for (const item of fragments) {
      const fragment = objectOf(item);
      if (fragment !== undefined) this.read(fragment);
    }
  }

  private read(fragment: JsonObject): void {
    this.collector.noteUnknownIn(fragment, CALL_KINDS);
    const read = readFragment(fragment);
    const { index, id, custom, called } = read;
    const name = this.collector.names.get(read.name) ?? read.name;
    const call = this.calls.find({ index, id, name }) ?? this.open(index, custom);
    this.calls.name(call, id);
    const google = objectOf(objectOf(fragment["extra_content"])?.["google"]);
    call.signature ??= textOf(google?.["thought_signature"]) || undefined;
    this.goOn(
      call,
      name,
      this.argumentsOf(called, (called["arguments"] ?? undefined) === undefined ? "input" : "arguments"),
    );
  }

  readFunctionCall(fragment: JsonObject): void {
    const name = textOf(fragment["name"]);
    const text = this.argumentsOf(fragment, "arguments");
    if (name === "" && text === "") return;
    this.functionCall ??= this.open(undefined, false);
    this.goOn(this.functionCall, name, text);
  }

  private argumentsOf(called: JsonObject, key: string): string {
    return argumentsText(called, key, () => this.collector.exact);
  }

  private open(told: unknown, custom: boolean): Call {
    return this.calls.add({
      index: this.calls.all.length,
      told: typeof told === "number" ? told : undefined,
      custom,
      id: "",
      name: "",
      list: 0,
      signature: undefined,
      hasStarted: false,
      pending: "",
    });
  }

  private goOn(call: Call, name: string, fragment: string): void {
    if (call.name === "" && name !== "") {
      call.name = name;
      this.hasCalls = true;
      this.collector.addText(name);
      if (isBuiltIn(name)) this.collector.countCall("web_search");
    } else if (name !== call.name) this.collector.addText(name);
    this.collector.addText(fragment);
    if (!this.collector.isTyped) return;
    if (!call.hasStarted && call.name !== "") this.start(call);
    if (!call.hasStarted) call.pending = kept(call.pending, fragment);
    else this.addArguments(call, fragment);
  }

  private start(call: Call): void {
    call.hasStarted = true;
    const { index, custom, name, signature } = call;
    const id = call.id || madeCallId(this.answerId, this.candidate, index);
    this.collector.tellCall({ candidate: this.candidate, index, id, name, custom, signature });
    this.addArguments(call, call.pending);
    call.pending = "";
  }

  private addArguments(call: Call, fragment: string): void {
    if (fragment === "") return;
    const value = { candidate: this.candidate, index: call.index, arguments: fragment };
    this.collector.add({ kind: { $case: "toolCallDelta", value } });
  }
}
