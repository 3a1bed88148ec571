/** Reads the choices of chunks and of whole answers, tolerant of every dialect that is known, into text and steps. */
import type { Usage } from "../../api/index.js";
import { GatewayError } from "../../errors.js";
import { AnswerCollector } from "../answer-collector.js";
import { type JsonObject, listOf, objectOf, placeOf, textOf, timeOf } from "../json/value.js";
import { chunkHead, type ChunkReader } from "../openai-stream.js";
import type { WireRequest } from "../wire.js";
import { type CandidateCollector, CandidateReader } from "./candidate-reader.js";
import { decodeToldError } from "../openai-error.js";
import { WIRE_NAME } from "./schema.js";
import { changedNames, NO_NAMES, PLAIN_NAMES } from "../fitted-names.js";
import { decodeUsage, isBrokenUsage, toldSearches } from "../openai-usage.js";

const CANDIDATES_MAX = 128;

/** One answer, as far as it was read. Errors are looked for before choices: some servers send both. */
export class AnswerReader extends AnswerCollector implements ChunkReader, CandidateCollector {
  usage: Usage | undefined;
  usageBroken = false;
  /** The client's own names of tools whose names did not fit. */
  readonly names: ReadonlyMap<string, string>;
  /** True once the upstream said in so many words that nothing follows. */
  isDone = false;
  /** True once the upstream closed. */
  isClosed = false;
  /** Nearly always one. */
  private readonly candidates: CandidateReader[] = [];
  /** Whose choice was read last. */
  private lastRead: CandidateReader | undefined;
  /** What made-up ids of calls are told apart by. */
  private answerId = "";
  /** What every chunk begins with. */
  private head: JsonObject = {};

  constructor(
    isTyped: boolean,
    private readonly candidatesExpected: number,
    asked?: WireRequest,
  ) {
    super(isTyped);
    const isForeign = isTyped && asked?.source !== undefined && asked.source.wire !== WIRE_NAME;
    this.names = isForeign ? changedNames(asked.prompt(), PLAIN_NAMES) : NO_NAMES;
  }

  get complete(): boolean {
    if (this.isDone) return true;
    if (this.candidates.length === 0 || (!this.isClosed && this.candidates.length < this.candidatesExpected))
      return false;
    for (const candidate of this.candidates) if (!candidate.isFinished) return false;
    return true;
  }

  /** Reads one chunk, or one whole answer. Returns the error that it tells. */
  read(chunk: JsonObject): GatewayError | undefined {
    const error = chunk["error"];
    if (error !== undefined && error !== null && error !== false && error !== "") return decodeToldError(error);
    if (chunk["object"] === "error") return decodeToldError(chunk);
    this.noteUsage(chunk["usage"] ?? objectOf(chunk["x_groq"])?.["usage"]);
    const tier = chunk["service_tier"];
    if (typeof tier === "string") this.serviceTier = tier;
    const choices = listOf(chunk["choices"]);
    if (choices.length > 0) this.start(chunk);
    for (let place = 0; place < choices.length; place++) {
      const choice = objectOf(choices[place]);
      const told = choice === undefined ? undefined : this.readChoice(choice, place);
      if (told !== undefined) return told;
    }
    return undefined;
  }

  readAgain(text: string): void {
    this.lastRead?.addText(text);
  }

  endAtLimit(): readonly JsonObject[] {
    const choices: JsonObject[] = [];
    for (let index = 0; index < this.candidatesExpected; index++) {
      const isFinished = this.candidates.find((known) => known.index === index)?.isFinished === true;
      if (!isFinished) choices.push({ index, delta: {}, logprobs: null, finish_reason: "length" });
    }
    return choices.length === 0 ? [] : [{ ...this.head, choices }];
  }

  /** Nothing follows: what was held back of each candidate comes out. */
  finish(): void {
    if (!this.isTyped) return;
    for (const candidate of this.candidates) candidate.finish(this.isDone);
  }

  private noteUsage(value: unknown): void {
    if (value === undefined || value === null) return;
    // The last report counts, never the sum: each tells the whole answer so far.
    this.usage = decodeUsage(value) ?? this.usage;
    this.usageBroken = isBrokenUsage(value);
    const searches = toldSearches(value);
    if (searches !== undefined) this.noteCalls("web_search", searches);
  }

  private start(chunk: JsonObject): void {
    if (this.hasBegun) return;
    this.hasBegun = true;
    const id = textOf(chunk["id"]);
    const created = chunk["created"];
    this.head = chunkHead(chunk);
    this.answerId = `${id} ${typeof created === "number" ? created : ""}`;
    this.servedModel = textOf(chunk["model"]);
    if (!this.isTyped) return;
    const value = { id, model: this.servedModel, createTime: timeOf(created), inputTokens: undefined };
    this.add({ kind: { $case: "start", value } });
  }

  private readChoice(choice: JsonObject, place: number): GatewayError | undefined {
    const error = choice["error"];
    if (objectOf(error) !== undefined) return decodeToldError(error);
    this.noteUsage(choice["usage"]);
    const index = placeOf(choice["index"], CANDIDATES_MAX) ?? Math.min(place, CANDIDATES_MAX - 1);
    let candidate = this.candidates.find((known) => known.index === index);
    if (candidate === undefined) {
      candidate = new CandidateReader(index, this.answerId, this);
      this.candidates.push(candidate);
    }
    this.lastRead = candidate;
    return candidate.read(choice);
  }
}
