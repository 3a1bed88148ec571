/** Reads the choices of chunks and of whole answers into text and steps. */
import { FinishReason, type Usage } from "../../api/index.js";
import { GatewayError } from "../../errors.js";
import { AnswerCollector } from "../answer-collector.js";
import { type JsonObject, listOf, objectOf, placeOf, textOf, timeOf } from "../json/value.js";
import { decodeToldError } from "../openai-error.js";
import { chunkHead, type ChunkReader } from "../openai-stream.js";
import { decodeUsage, isBrokenUsage } from "../openai-usage.js";
import { decodeLogprobs } from "./logprobs.js";

const CHOICES_MAX = 128 * 2_048;

const REASONS: ReadonlyMap<string, FinishReason> = new Map([
  ["stop", FinishReason.FINISH_REASON_END],
  ["length", FinishReason.FINISH_REASON_LENGTH],
  ["content_filter", FinishReason.FINISH_REASON_BLOCKED],
]);

/** Endings that are failures: the answer before them is cut. */
const FAILURES: ReadonlySet<string> = new Set(["error", "abort"]);

/** One answer, as far as it was read. Errors are looked for before choices: some servers send both. */
export class CompletionReader extends AnswerCollector implements ChunkReader {
  usage: Usage | undefined;
  usageBroken = false;
  isDone = false;
  isClosed = false;
  private head: JsonObject = {};
  /** The choices that began, each with whether it ended. */
  private readonly choices = new Map<number, boolean>();

  constructor(
    isTyped: boolean,
    private readonly choicesExpected: number,
  ) {
    super(isTyped);
  }

  get complete(): boolean {
    if (this.isDone) return true;
    if (this.choices.size === 0 || (!this.isClosed && this.choices.size < this.choicesExpected)) return false;
    for (const hasEnded of this.choices.values()) if (!hasEnded) return false;
    return true;
  }

  read(chunk: JsonObject): GatewayError | undefined {
    const error = chunk["error"];
    if (error !== undefined && error !== null && error !== false && error !== "") return decodeToldError(error);
    if (chunk["object"] === "error") return decodeToldError(chunk);
    this.noteUsage(chunk["usage"]);
    const choices = listOf(chunk["choices"]);
    if (choices.length > 0) this.start(chunk);
    for (const [place, entry] of choices.entries()) {
      const choice = objectOf(entry);
      const told = choice === undefined ? undefined : this.readChoice(choice, place);
      if (told !== undefined) return told;
    }
    return undefined;
  }

  finish(): void {}

  endAtLimit(): readonly JsonObject[] {
    const choices: JsonObject[] = [];
    for (let index = 0; index < this.choicesExpected; index++)
      if (this.choices.get(index) !== true) choices.push({ index, text: "", logprobs: null, finish_reason: "length" });
    return choices.length === 0 ? [] : [{ ...this.head, choices }];
  }

  private noteUsage(value: unknown): void {
    if (value === undefined || value === null) return;
    // The last report counts, never the sum: each tells the whole answer so far.
    this.usage = decodeUsage(value) ?? this.usage;
    this.usageBroken = isBrokenUsage(value);
  }

  private start(chunk: JsonObject): void {
    if (this.hasBegun) return;
    this.hasBegun = true;
    this.head = chunkHead(chunk);
    this.servedModel = textOf(chunk["model"]);
    this.serviceTier = textOf(chunk["service_tier"]);
    const value = {
      id: textOf(chunk["id"]),
      model: this.servedModel,
      createTime: timeOf(chunk["created"]),
      inputTokens: undefined,
    };
    this.add({ kind: { $case: "start", value } });
  }

  private readChoice(choice: JsonObject, place: number): GatewayError | undefined {
    const candidate = placeOf(choice["index"], CHOICES_MAX) ?? place;
    const text = textOf(choice["text"]);
    const reason = textOf(choice["finish_reason"]);
    this.choices.set(candidate, this.choices.get(candidate) === true || reason !== "");
    this.addText(text);
    if (text !== "") this.add({ kind: { $case: "text", value: { candidate, text } } });
    const logprobs = decodeLogprobs(choice["logprobs"], candidate);
    if (logprobs !== undefined) this.add({ kind: { $case: "logprobs", value: logprobs } });
    if (reason === "") return undefined;
    if (FAILURES.has(reason))
      return new GatewayError("ERROR_REASON_UPSTREAM_FAILED", { problem: `it ended the answer with '${reason}'` });
    // Of vLLM: the stop string that occurred, or the id of a stop token.
    const stopString = textOf(choice["stop_reason"]) || undefined;
    const known = REASONS.get(reason) ?? FinishReason.FINISH_REASON_END;
    const isStop = known === FinishReason.FINISH_REASON_END && stopString !== undefined;
    const value = { candidate, reason: isStop ? FinishReason.FINISH_REASON_STOP_STRING : known, stopString };
    this.add({ kind: { $case: "candidateEnd", value } });
    return undefined;
  }
}
