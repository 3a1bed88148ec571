/** Reads the events of a stream, and whole responses as the events that would have made them, into text and steps. */
import { type Event, FinishReason, type Usage } from "../../../api/index.js";
import type { GatewayError } from "../../../base/errors.js";
import { toldName } from "../../error/redact.js";
import { upstreamFailed } from "../../error/refusals.js";
import { finishReasonOf } from "../../answer/finish-words.js";
import { AnswerCollector } from "../../answer/collector.js";
import { changedNames, NO_NAMES, PLAIN_NAMES } from "../../request/fitted-names.js";
import { type JsonObject, listOf, objectOf, textOf, timeOf } from "../../json/value.js";
import { decodeToldError } from "../../openai/error.js";
import type { AnswerReport, WireRequest } from "../../wire.js";
import { AskedTools } from "../request/decode-tools.js";
import { toldCalls } from "../../openai/answer/told-tools.js";
import { HOSTED_TOOLS } from "./read-hosted.js";
import { ItemsReader } from "./read-items.js";
import { WIRE_NAME } from "../facts.js";
import { decodeUsage, isBrokenUsage } from "./usage.js";

const GOOD_STATUSES: ReadonlySet<string> = new Set(["completed", "incomplete"]);

/** One answer, as far as it was read. */
export class AnswerReader extends AnswerCollector implements AnswerReport {
  usage: Usage | undefined;
  usageBroken = false;
  /** True once the upstream said that the response is completed, or that it will not be. */
  complete = false;
  /** The bytes of the event that said so, where the caller takes bytes. */
  ending: Buffer | undefined;
  readonly tools: AskedTools;
  readonly names: ReadonlyMap<string, string>;
  private readonly items: ItemsReader;
  /** The beginning, until something follows it: errors come behind it too, and another target may still be asked. */
  private start: Event | undefined;
  private hasStarted = false;
  private id: unknown;
  private model: unknown;
  private createdAt: unknown;
  private sequenceNumber = 0;

  constructor(isTyped: boolean, asked?: WireRequest) {
    super(isTyped, asked);
    const source = isTyped ? asked?.source : undefined;
    const isForeign = source !== undefined && source.wire !== WIRE_NAME;
    this.names = isForeign && asked !== undefined ? changedNames(asked.prompt(), PLAIN_NAMES) : NO_NAMES;
    this.tools = source?.wire === WIRE_NAME ? AskedTools.ofBody(source.body) : new AskedTools();
    this.items = new ItemsReader(this);
  }

  /** Reads one event. Returns the error that it tells. What no table knows counts, and means nothing else here. */
  read(event: JsonObject): GatewayError | undefined {
    const type = textOf(event["type"]);
    const response = objectOf(event["response"]);
    const number = event["sequence_number"];
    if (typeof number === "number") this.sequenceNumber = number;
    switch (type) {
      case "response.created":
      case "response.in_progress":
      case "response.queued":
        this.begin(response ?? {});
        return undefined;
      case "response.completed":
      case "response.incomplete":
        return this.end(response ?? {});
      case "response.failed":
        return decodeToldError(response?.["error"] ?? {});
      case "error":
      case "":
        return toldIn(event, type);
      default:
        this.items.read(type, event);
        return undefined;
    }
  }

  /** What was said stands in the events before it, so that the response itself need not hold it. */
  endAtLimit(): readonly JsonObject[] {
    const response = {
      id: this.id,
      object: "response",
      created_at: this.createdAt,
      status: "incomplete",
      error: null,
      incomplete_details: { reason: "max_output_tokens" },
      model: this.model,
      output: [],
      usage: null,
    };
    return [{ type: "response.incomplete", sequence_number: this.sequenceNumber + 1, response }];
  }

  /** Reads a whole response. Returns the error that it tells. */
  readWhole(response: JsonObject): GatewayError | undefined {
    const error = response["error"];
    if (error !== undefined && error !== null) return decodeToldError(error);
    return Array.isArray(response["output"]) ? this.end(response) : undefined;
  }

  override add(event: Event): void {
    const { start } = this;
    this.start = undefined;
    if (start !== undefined) super.add(start);
    super.add(event);
  }

  begun(): void {
    this.hasBegun = true;
  }

  private begin(response: JsonObject): void {
    if (this.hasStarted) return;
    this.hasStarted = true;
    this.showsCalls(HOSTED_TOOLS);
    this.servedModel = textOf(response["model"]);
    this.id = response["id"];
    this.model = response["model"];
    this.createdAt = response["created_at"];
    const createTime = timeOf(response["created_at"]);
    const value = { id: textOf(response["id"]), model: this.servedModel, createTime, inputTokens: undefined };
    this.start = { kind: { $case: "start", value } };
  }

  /** Whatever the event is called that holds it: a response that says that it failed did. */
  private end(response: JsonObject): GatewayError | undefined {
    const error = response["error"];
    if (error !== undefined && error !== null) return decodeToldError(error);
    const status = textOf(response["status"]);
    if (status !== "" && !GOOD_STATUSES.has(status))
      return upstreamFailed(`its answer is ${toldName(status) || "bad"}`);
    this.begin(response);
    // Asked for `auto`, the beginning says so, and only the end says which tier it was.
    this.serviceTier = textOf(response["service_tier"]);
    this.usage = decodeUsage(response["usage"]) ?? this.usage;
    this.usageBroken = isBrokenUsage(response["usage"]);
    // What no event told stands in the response itself.
    listOf(response["output"]).forEach((item, index) => this.items.end(index, objectOf(item) ?? {}));
    this.noteToldCalls(toldCalls(response["usage"], this));
    this.complete = true;
    const cut = textOf(objectOf(response["incomplete_details"])?.["reason"]);
    const plain = this.items.hasCalls ? FinishReason.FINISH_REASON_TOOL_CALLS : FinishReason.FINISH_REASON_END;
    // What is incomplete is cut, whatever word or none says why.
    const isCut = cut !== "" || status === "incomplete";
    this.tellEnd(0, isCut ? finishReasonOf(cut, FinishReason.FINISH_REASON_LENGTH) : plain, undefined);
    return undefined;
  }
}

/** The error of an event that is one, flat or nested; of an event without a name only where it holds one. */
function toldIn(event: JsonObject, type: string): GatewayError | undefined {
  const nested = event["error"];
  if (nested !== undefined && nested !== null) return decodeToldError(nested);
  return type === "error" ? decodeToldError({ ...event, type: event["code"] }) : undefined;
}
