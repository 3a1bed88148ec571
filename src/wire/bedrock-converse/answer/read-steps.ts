/** Reads the events of a stream, and whole answers, into text and steps. */
import type { Usage } from "../../../api/index.js";
import { AnswerCollector } from "../../answer/collector.js";
import { NO_NAMES } from "../../request/fitted-names.js";
import { type AskedTools, askedTools } from "../../claude/request/encode-answer-tool.js";
import type { CallCollector } from "../../claude/answer/read-calls.js";
import { type JsonObject, listOf, objectOf, textOf } from "../../json/value.js";
import type { AnswerReport, WireRequest } from "../../wire.js";
import { BlockReader } from "./read-blocks.js";
import { EVENT_KINDS } from "../events/kinds.js";
import { decodeReason } from "./finish.js";
import { decodeUsage, isBrokenUsage } from "./usage.js";

const NO_TOOLS: AskedTools = { custom: new Set(), json: undefined, names: NO_NAMES };

/** One answer, as far as it was read. */
export class AnswerReader extends AnswerCollector implements AnswerReport, CallCollector {
  usage: Usage | undefined;
  usageBroken = false;
  /** True once the upstream said why the answer ends. */
  complete = false;
  readonly tools: AskedTools;
  private readonly blocks = new BlockReader(this);
  private hasEnded = false;
  private reason = "";
  private stopString: string | undefined;

  constructor(
    isTyped: boolean,
    asked: WireRequest | undefined,
    private readonly ids: () => string,
  ) {
    super(isTyped, asked);
    this.tools = isTyped && asked !== undefined ? askedTools(asked.prompt()) : NO_TOOLS;
  }

  /** Reads one event of a stream. What no table knows counts, and means nothing else here. */
  read(kind: string, event: JsonObject): void {
    switch (kind) {
      case "messageStart":
        return this.start();
      case "contentBlockStart":
        return this.blocks.start(event["contentBlockIndex"], objectOf(event["start"]) ?? {});
      case "contentBlockDelta":
        return this.blocks.delta(event["contentBlockIndex"], objectOf(event["delta"]) ?? {});
      case "contentBlockStop":
        return this.blocks.stop(event["contentBlockIndex"]);
      case "messageStop":
        this.noteEnd(event);
        this.complete = true;
        return;
      case "metadata":
        this.serviceTier = textOf(objectOf(event["serviceTier"])?.["type"]) || this.serviceTier;
        return this.noteUsage(event["usage"]);
      default:
        if (!EVENT_KINDS.has(kind)) this.noteUnknown(event);
    }
  }

  /** Reads a whole answer. `inputs` are those of its calls as the upstream wrote them, by the place of the block. */
  readWhole(answer: JsonObject, content: unknown, inputs: readonly (string | undefined)[]): void {
    this.start();
    for (const [index, block] of listOf(content).entries())
      this.blocks.whole(index, objectOf(block) ?? {}, inputs[index]);
    this.serviceTier = textOf(objectOf(answer["serviceTier"])?.["type"]);
    this.noteUsage(answer["usage"]);
    this.noteEnd(answer);
    // A body that can be read at all is whole, whatever reasons it gives.
    this.complete = true;
    this.finish();
  }

  /** Nothing follows: the end comes out, where there was one. */
  finish(): void {
    if (!this.complete || this.hasEnded) return;
    this.hasEnded = true;
    this.blocks.finish();
    if (!this.isTyped) return;
    const reason = decodeReason(this.reason, this.blocks.hasCalls);
    this.tellEnd(0, reason, this.stopString);
  }

  /** The wire names neither the answer nor the model. */
  private start(): void {
    if (this.hasBegun) return;
    this.hasBegun = true;
    if (!this.isTyped) return;
    const value = {
      id: this.ids(),
      model: this.asked?.facts.model ?? "",
      createTime: undefined,
      inputTokens: undefined,
    };
    this.add({ kind: { $case: "start", value } });
  }

  private noteEnd(told: JsonObject): void {
    this.reason = textOf(told["stopReason"]);
    const stopString = objectOf(told["additionalModelResponseFields"])?.["stop_sequence"];
    if (typeof stopString === "string") this.stopString = stopString;
  }

  private noteUsage(told: unknown): void {
    this.usage = this.latestUsage(this.usage, decodeUsage(told));
    this.usageBroken ||= isBrokenUsage(told);
    this.noteTold(this.complete);
  }
}
