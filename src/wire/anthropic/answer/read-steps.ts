/** Reads the events of a stream, and whole answers as the events that would have made them, into text and steps. */
import { FinishReason, type Usage } from "../../../api/index.js";
import type { GatewayError } from "../../../base/errors.js";
import { type JsonObject, listOf, objectOf, textOf } from "../../json/value.js";
import { AnswerCollector } from "../../answer/collector.js";
import { tokenCount } from "../../answer/token-count.js";
import type { AnswerReport, WireRequest } from "../../wire.js";
import { BlockReader } from "./read-blocks.js";
import type { CallCollector } from "../../claude/answer/read-calls.js";
import { EVENT_KINDS } from "../events/kinds.js";
import { decodeToldError } from "../error.js";
import { decodeReason } from "./finish.js";
import { NO_NAMES } from "../../request/fitted-names.js";
import { type AskedTools, askedTools } from "../../claude/request/encode-answer-tool.js";
import { TOOLS } from "../request/members.js";
import { UsageReader } from "./usage.js";
import { WIRE_NAME } from "../facts.js";

const MCP = "mcp";
/** Tools whose calls cost something; the code execution has a name for each of its languages. */
const HOSTED_TOOLS = ["web_search", "code_execution", MCP];
/** How the usage names the calls of a tool. */
const REQUESTS = "_requests";

const AS_THE_WIRE_HAS_THEM: AskedTools = { custom: new Set(), json: undefined, names: NO_NAMES };

/** One answer, as far as it was read. */
export class AnswerReader extends AnswerCollector implements AnswerReport, CallCollector {
  /** True once the upstream said in so many words that nothing follows. */
  complete = false;
  /** True while the usage is that of the beginning, and what is generated is still to be told. */
  private isUsageOfStart = false;
  containerId = "";
  readonly tools: AskedTools;
  private readonly counts = new UsageReader();
  private readonly blocks: BlockReader;
  private reason = "";
  private stopString: string | undefined;
  private explanation = "";

  constructor(isTyped: boolean, asked: WireRequest | undefined) {
    super(isTyped, asked);
    const isForeign = isTyped && asked !== undefined && asked.source?.wire !== WIRE_NAME;
    this.tools = isForeign ? askedTools(asked.prompt()) : AS_THE_WIRE_HAS_THEM;
    this.blocks = new BlockReader(this);
  }

  get usage(): Usage | undefined {
    return this.counts.usage;
  }

  override get rounds(): AnswerReport["rounds"] {
    return this.counts.rounds ?? super.rounds;
  }

  override get usageEarly(): boolean {
    return this.isUsageOfStart || super.usageEarly;
  }

  get usageBroken(): boolean {
    return this.counts.broken;
  }

  /** Reads one event. Returns the error that it tells. What no table knows counts, and means nothing else here. */
  read(event: JsonObject): GatewayError | undefined {
    switch (event["type"]) {
      case "message_start":
        this.begin(objectOf(event["message"]) ?? {});
        return undefined;
      case "content_block_start": {
        const block = objectOf(event["content_block"]) ?? {};
        this.countHosted(block);
        this.blocks.start(event["index"], block);
        return undefined;
      }
      case "content_block_delta":
        this.blocks.delta(event["index"], objectOf(event["delta"]) ?? {});
        return undefined;
      case "content_block_stop":
        this.blocks.stop(event["index"]);
        return undefined;
      case "message_delta":
        this.noteEnd(objectOf(event["delta"]) ?? {});
        this.noteUsage(event["usage"]);
        this.noteOutput(objectOf(event["usage"])?.["output_tokens"]);
        return undefined;
      case "message_stop":
        this.finish();
        return undefined;
      case "error":
        return decodeToldError(event["error"]);
      default:
        if (event["type"] === undefined && event["error"] !== undefined) return decodeToldError(event["error"]);
        if (!EVENT_KINDS.has(textOf(event["type"]))) this.noteUnknown(event);
        return undefined;
    }
  }

  endAtLimit(outputTokens: number): readonly JsonObject[] {
    const delta = { stop_reason: "max_tokens", stop_sequence: null };
    const end = { type: "message_delta", delta, usage: { output_tokens: outputTokens } };
    return [end, { type: "message_stop" }];
  }

  /** What was generated is told with the end, and by some servers now and then before it. */
  private noteOutput(told: unknown): void {
    if (told === undefined) return;
    this.isUsageOfStart = false;
    this.noteTold();
  }

  /** The beginning of a stream. It may hold the calls of a program that the upstream ran, and then why it ended too. */
  private begin(message: JsonObject): void {
    this.isUsageOfStart = typeof message["stop_reason"] !== "string";
    this.start(message);
    this.noteEnd(message);
    for (const [index, block] of listOf(message["content"]).entries())
      this.block(index, objectOf(block) ?? {}, undefined);
  }

  /** The beginning of a message; a whole answer begins as a stream does. */
  start(message: JsonObject): void {
    this.hasBegun = true;
    this.showsCalls(HOSTED_TOOLS);
    this.servedModel = textOf(message["model"]);
    this.noteUsage(message["usage"]);
    if (!this.isTyped) return;
    const value = { id: textOf(message["id"]), model: this.servedModel, createTime: undefined, inputTokens: undefined };
    this.add({ kind: { $case: "start", value } });
  }

  /** The counts so far. Those of tools replace what was counted of their calls. */
  noteUsage(told: unknown): void {
    this.counts.note(told);
    const usage = objectOf(told);
    if (usage === undefined) return;
    // The fast mode is a price of its own, as a service tier is.
    this.serviceTier = usage["speed"] === "fast" ? "fast" : textOf(usage["service_tier"]) || this.serviceTier;
    const hosted = objectOf(usage["server_tool_use"]);
    if (hosted === undefined) return;
    for (const [name, calls] of Object.entries(hosted)) {
      const count = tokenCount(calls);
      if (count === undefined || !name.endsWith(REQUESTS)) continue;
      const tool = name.slice(0, -REQUESTS.length);
      if (TOOLS.get(tool)?.kind !== "free") this.noteCalls(tool, count);
    }
  }

  /** Counts a call of a tool that the upstream ran; where the usage tells how many were charged, that counts. */
  private countHosted(block: JsonObject): void {
    const { type } = block;
    if (type !== "mcp_tool_use" && type !== "server_tool_use") return;
    this.noteHosted();
    const name = textOf(block["name"]);
    const hosted = type === "mcp_tool_use" ? MCP : HOSTED_TOOLS.find((known) => name.endsWith(known));
    if (hosted !== undefined) this.countCall(hosted);
  }

  /** Why the message ends, told before the end or in a whole answer. */
  noteEnd(told: JsonObject): void {
    this.reason = textOf(told["stop_reason"]) || this.reason;
    this.containerId = textOf(objectOf(told["container"])?.["id"]) || this.containerId;
    const stopString = told["stop_sequence"];
    if (typeof stopString === "string") this.stopString = stopString;
    this.explanation = textOf(objectOf(told["stop_details"])?.["explanation"]) || this.explanation;
  }

  /** Nothing follows. */
  finish(): void {
    if (this.complete) return;
    this.complete = true;
    this.blocks.finish();
    if (!this.isTyped) return;
    const { explanation, stopString } = this;
    const isUntold = this.reason === "" && !this.blocks.hasCalls;
    const reason = isUntold ? FinishReason.FINISH_REASON_UNSPECIFIED : decodeReason(this.reason, this.blocks.hasCalls);
    if (reason === FinishReason.FINISH_REASON_BLOCKED && explanation !== "")
      this.add({ kind: { $case: "refusal", value: { candidate: 0, text: explanation } } });
    this.tellEnd(0, reason, stopString);
  }

  /** One whole block of a whole answer. `inputJson` is the input of a call as the upstream wrote it. */
  block(index: number, block: JsonObject, inputJson: string | undefined): void {
    this.countHosted(block);
    this.blocks.whole(index, block, inputJson);
  }
}
