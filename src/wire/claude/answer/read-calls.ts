/** The calls of tools in an answer of Claude's, as their pieces come, on whichever of its wires. */
import type { Collector } from "../../answer/collector.js";
import { unwrappedText } from "../../request/free-text.js";
import { kept } from "../../answer/kept-text.js";
import type { JsonObject } from "../../json/value.js";
import type { AskedTools } from "../request/encode-answer-tool.js";

/** Where a reader puts what it finds. */
export interface CallCollector extends Collector {
  readonly tools: AskedTools;
}

/** The calls of one answer. */
export class ClaudeCalls {
  /** State of the call that follows, from the thought before it: set by a wire that carries it. */
  state: string | undefined;
  private count = 0;

  constructor(private readonly to: CallCollector) {}

  /** True once a tool of the client's was called. */
  get hasCalls(): boolean {
    return this.count > 0;
  }

  begin(told: string, id: string): ClaudeCall {
    const { to } = this;
    const { custom: freeText, json, names } = to.tools;
    const name = names.get(told) ?? told;
    to.addText(told);
    // The tool that makes the model answer in a schema: what goes into it is the answer.
    if (name === json) return new ClaudeCall(to, "answer", 0);
    const custom = freeText.has(name);
    const index = this.count++;
    to.tellCall({ candidate: 0, index, id, name, custom, signature: this.state });
    this.state = undefined;
    return new ClaudeCall(to, custom ? "custom" : "function", index);
  }
}

/** One call, from its name to the end of its input. */
export class ClaudeCall {
  /** Free text, which is told when it is whole: it comes wrapped in an object. */
  private freeText = "";
  private hasInput = false;

  constructor(
    private readonly to: CallCollector,
    private readonly kind: "function" | "custom" | "answer",
    /** Its number among the calls. */
    private readonly index: number,
  ) {}

  push(fragment: string): void {
    if (fragment === "") return;
    this.hasInput = true;
    if (this.kind === "answer") return this.to.tellText(0, fragment);
    this.to.addText(fragment);
    if (this.kind === "custom") this.freeText = kept(this.freeText, fragment);
    else this.tell(fragment);
  }

  /** It ends. `input` is that of a call of which no piece came. */
  end(input: JsonObject): void {
    if (!this.hasInput) this.push(JSON.stringify(input));
    if (this.kind === "custom") this.tell(unwrappedText(this.freeText));
  }

  private tell(fragment: string): void {
    if (!this.to.isTyped || fragment === "") return;
    this.to.add({ kind: { $case: "toolCallDelta", value: { candidate: 0, index: this.index, arguments: fragment } } });
  }
}
