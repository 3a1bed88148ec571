/** Reads the choices of chunks and of whole answers, tolerant of every dialect that is known, into text and steps. */
import type { GatewayError } from "../../../base/errors.js";
import { type JsonObject, objectOf, placeOf, textOf } from "../../json/value.js";
import { ChunkAnswerReader } from "../../openai/answer/read-steps.js";
import { decodeToldError } from "../../openai/error.js";
import { changedNames, NO_NAMES, PLAIN_NAMES } from "../../request/fitted-names.js";
import type { WireRequest } from "../../wire.js";
import { CHOICE_KINDS } from "../events/kinds.js";
import { WIRE_NAME } from "../facts.js";
import { type CandidateCollector, CandidateReader } from "./read-candidate.js";

const CANDIDATES_MAX = 128;

export class AnswerReader extends ChunkAnswerReader implements CandidateCollector {
  /** The client's own names of tools whose names did not fit. */
  readonly names: ReadonlyMap<string, string>;
  /** Nearly always one. */
  private readonly candidates: CandidateReader[] = [];
  /** Whose choice was read last. */
  private lastRead: CandidateReader | undefined;
  /** What made-up ids of calls are told apart by. */
  private answerId = "";

  constructor(isTyped: boolean, candidatesExpected: number, asked?: WireRequest) {
    super(isTyped, candidatesExpected, asked);
    const isForeign = isTyped && asked?.source !== undefined && asked.source.wire !== WIRE_NAME;
    this.names = isForeign ? changedNames(asked.prompt(), PLAIN_NAMES) : NO_NAMES;
  }

  readAgain(text: string): void {
    this.lastRead?.addText(text);
  }

  /** Nothing follows: what was held back of each candidate comes out. */
  override finish(): void {
    if (!this.isTyped) return;
    for (const candidate of this.candidates) candidate.finish(this.isDone);
  }

  protected override get choiceCount(): number {
    return this.candidates.length;
  }

  protected override areFinished(): boolean {
    for (const candidate of this.candidates) if (!candidate.isFinished) return false;
    return true;
  }

  protected override isFinished(index: number): boolean {
    return this.candidates.find((known) => known.index === index)?.isFinished === true;
  }

  protected override openChoices(): readonly number[] {
    return this.candidates.filter(({ isFinished }) => !isFinished).map(({ index }) => index);
  }

  protected override endChoice(index: number, reason: "length" | "stop"): JsonObject {
    const hasCalls = this.candidates.find((known) => known.index === index)?.hasCalls === true;
    const finish_reason = reason === "stop" && hasCalls ? "tool_calls" : reason;
    return { index, delta: {}, logprobs: null, finish_reason };
  }

  protected override begin(chunk: JsonObject): void {
    const created = chunk["created"];
    this.answerId = `${textOf(chunk["id"])} ${typeof created === "number" ? created : ""}`;
  }

  protected override readChoice(choice: JsonObject, place: number): GatewayError | undefined {
    const error = choice["error"];
    if (objectOf(error) !== undefined) return decodeToldError(error);
    this.noteUsage(choice["usage"]);
    this.noteExtrasIn(choice, CHOICE_KINDS);
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
