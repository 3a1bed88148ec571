/** Reads the chunks of OpenAI's wires, and whole answers, which are one chunk each, into text and steps. */
import type { Usage } from "../../../api/index.js";
import type { GatewayError } from "../../../base/errors.js";
import { AnswerCollector } from "../../answer/collector.js";
import { type JsonObject, listOf, objectOf, textOf, timeOf } from "../../json/value.js";
import { decodeToldError } from "../error.js";
import { CHUNK_KINDS } from "../events/kinds.js";
import { chunkHead, type ChunkReader } from "../events/read-chunks.js";
import type { WireRequest } from "../../wire.js";
import { RunningCounts } from "./running-counts.js";
import { toldCalls } from "./told-tools.js";
import { decodeUsage, isBrokenUsage } from "./usage.js";

/** One answer, as far as it was read. Errors are looked for before choices: some servers send both. */
export abstract class ChunkAnswerReader extends AnswerCollector implements ChunkReader {
  usage: Usage | undefined;
  usageBroken = false;
  /** True once the upstream said in so many words that nothing follows. */
  isDone = false;
  /** True once the upstream closed. */
  isClosed = false;
  /** What every chunk begins with. */
  private head: JsonObject = {};
  /** True where the chunk that is read tells a usage. */
  private tellsUsage = false;
  private readonly choicesPerInput: number;
  private running: RunningCounts | undefined;

  constructor(
    isTyped: boolean,
    private readonly choicesExpected: number,
    asked: WireRequest | undefined,
  ) {
    super(isTyped, asked);
    const { candidateCount = 1, inputCount = 1 } = asked?.facts ?? {};
    this.choicesPerInput = Math.max(1, candidateCount / inputCount);
  }

  get complete(): boolean {
    const { choiceCount } = this;
    // Whoever says the last word before any other has answered nothing.
    if (this.isDone) return choiceCount > 0;
    if (choiceCount === 0 || (!this.isClosed && choiceCount < this.choicesExpected)) return false;
    return this.areFinished();
  }

  /** Reads one chunk, or one whole answer, which was parsed from `data`. Returns the error that it tells. */
  read(chunk: JsonObject, data?: Buffer): GatewayError | undefined {
    this.begins(chunk, data);
    const error = chunk["error"];
    if (error !== undefined && error !== null && error !== false && error !== "") return decodeToldError(error);
    if (chunk["object"] === "error") return decodeToldError(chunk);
    this.tellsUsage = false;
    this.noteUsage(chunk["usage"] ?? objectOf(chunk["x_groq"])?.["usage"]);
    if (chunk["timings"] !== undefined && !this.tellsUsage) this.noteRunning(chunk);
    const tier = chunk["service_tier"];
    if (typeof tier === "string") this.serviceTier = tier;
    this.noteExtrasIn(chunk, CHUNK_KINDS);
    const choices = listOf(chunk["choices"]);
    if (choices.length > 0) this.start(chunk);
    for (let place = 0; place < choices.length; place++) {
      const choice = objectOf(choices[place]);
      const told = choice === undefined ? undefined : this.readChoice(choice, place);
      if (told !== undefined) return told;
    }
    if (this.tellsUsage) this.noteTold(this.complete);
    return undefined;
  }

  endAtLimit(): readonly JsonObject[] {
    const places = Array.from({ length: this.choicesExpected }, (_, index) => index);
    return this.endOf(
      places.filter((index) => !this.isFinished(index)).map((index) => this.endChoice(index, "length")),
    );
  }

  /** The chunk that ends the choices that began and never said why they end; none where all did. */
  untoldEnds(): readonly JsonObject[] {
    return this.endOf(this.openChoices().map((index) => this.endChoice(index, "stop")));
  }

  private endOf(choices: readonly JsonObject[]): readonly JsonObject[] {
    return choices.length === 0 ? [] : [{ ...this.head, choices }];
  }

  abstract finish(): void;
  /** How many choices began. */
  protected abstract get choiceCount(): number;
  /** True where all that began also ended. */
  protected abstract areFinished(): boolean;
  protected abstract isFinished(index: number): boolean;
  /** Reads one choice. Returns the error that it tells. */
  protected abstract readChoice(choice: JsonObject, place: number): GatewayError | undefined;
  /** The choices that began and did not end. */
  protected abstract openChoices(): readonly number[];
  /** The choice that says of one why it ends: at its limit, or for no reason that was told. */
  protected abstract endChoice(index: number, reason: "length" | "stop"): JsonObject;

  protected noteUsage(value: unknown): void {
    if (value === undefined || value === null) return;
    this.usage = this.latestUsage(this.usage, decodeUsage(value));
    this.usageBroken = isBrokenUsage(value);
    this.tellsUsage = true;
    this.noteToldCalls(toldCalls(value, this));
  }

  private noteRunning(chunk: JsonObject): void {
    this.running ??= new RunningCounts(this.choicesPerInput);
    const usage = this.running.read(chunk);
    if (usage === undefined) return;
    this.usage = usage;
    this.usageBroken = false;
    this.tellsUsage = true;
  }

  /** Called for the first chunk that holds a choice. */
  protected begin(_chunk: JsonObject): void {}

  private start(chunk: JsonObject): void {
    if (this.hasBegun) return;
    this.hasBegun = true;
    this.head = chunkHead(chunk);
    this.servedModel = textOf(chunk["model"]);
    this.begin(chunk);
    if (!this.isTyped) return;
    const createTime = timeOf(chunk["created"]);
    const value = { id: textOf(chunk["id"]), model: this.servedModel, createTime, inputTokens: undefined };
    this.add({ kind: { $case: "start", value } });
  }
}
