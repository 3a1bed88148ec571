/** Reads the choices of chunks and of whole answers into text and steps. */
import { type Event, FinishReason, type Usage } from "../../api/index.js";
import { GatewayError } from "../../errors.js";
import { GrowingText } from "../growing-text.js";
import { type JsonObject, listOf, objectOf, textOf } from "../json/value.js";
import { decodeToldError } from "../openai-error.js";
import type { ChunkReader } from "../openai-stream.js";
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
export class CompletionReader implements ChunkReader {
  usage: Usage | undefined;
  usageBroken = false;
  readonly grown = new GrowingText();
  isDone = false;
  isClosed = false;
  private hasStarted = false;
  private events: Event[] = [];
  /** The choices that began, each with whether it ended. */
  private readonly choices = new Map<number, boolean>();

  /** `isTyped` says whether steps are built; the text is gathered either way. */
  constructor(
    private readonly isTyped: boolean,
    private readonly choicesExpected: number,
  ) {}

  get text(): string {
    return this.grown.toString();
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

  takeEvents(): Event[] {
    const { events } = this;
    this.events = [];
    return events;
  }

  private noteUsage(value: unknown): void {
    if (value === undefined || value === null) return;
    // The last report counts, never the sum: each tells the whole answer so far.
    this.usage = decodeUsage(value) ?? this.usage;
    this.usageBroken = isBrokenUsage(value);
  }

  private start(chunk: JsonObject): void {
    if (this.hasStarted) return;
    this.hasStarted = true;
    const created = chunk["created"];
    const isTime = typeof created === "number" && created > 0 && created < 1e11;
    const createTime = isTime ? new Date(Math.floor(created) * 1000) : undefined;
    this.add({ $case: "start", value: { id: textOf(chunk["id"]), model: textOf(chunk["model"]), createTime } });
  }

  private readChoice(choice: JsonObject, place: number): GatewayError | undefined {
    const named = choice["index"];
    const isPlace = typeof named === "number" && Number.isInteger(named) && named >= 0 && named < CHOICES_MAX;
    const candidate = isPlace ? named : place;
    const text = textOf(choice["text"]);
    const reason = textOf(choice["finish_reason"]);
    this.choices.set(candidate, this.choices.get(candidate) === true || reason !== "");
    this.grown.add(text);
    if (text !== "") this.add({ $case: "text", value: { candidate, text } });
    const logprobs = decodeLogprobs(choice["logprobs"], candidate);
    if (logprobs !== undefined) this.add({ $case: "logprobs", value: logprobs });
    if (reason === "") return undefined;
    if (FAILURES.has(reason))
      return new GatewayError("ERROR_REASON_UPSTREAM_FAILED", { problem: `it ended the answer with '${reason}'` });
    // Of vLLM: the stop string that occurred, or the id of a stop token.
    const stopString = textOf(choice["stop_reason"]) || undefined;
    const known = REASONS.get(reason) ?? FinishReason.FINISH_REASON_END;
    const isStop = known === FinishReason.FINISH_REASON_END && stopString !== undefined;
    const value = { candidate, reason: isStop ? FinishReason.FINISH_REASON_STOP_STRING : known, stopString };
    this.add({ $case: "candidateEnd", value });
    return undefined;
  }

  private add(kind: NonNullable<Event["kind"]>): void {
    if (this.isTyped) this.events.push({ kind });
  }
}
