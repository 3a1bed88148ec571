/** Reads the chunks of a stream and whole answers into text and steps. */
import { FinishReason, type Usage } from "../../../api/index.js";
import type { GatewayError } from "../../../base/errors.js";
import { AnswerCollector } from "../../answer/collector.js";
import { freeTextTools } from "../../request/free-text.js";
import { type JsonObject, listOf, objectOf, placeOf, textOf } from "../../json/value.js";
import type { AnswerReport, WireRequest } from "../../wire.js";
import { ValueBudget } from "./read-arguments.js";
import { type CandidateCollector, CandidateReader } from "./read-candidate.js";
import { CANDIDATE_KINDS, CHUNK_KINDS } from "../events/kinds.js";
import { decodeToldError } from "../error.js";
import { changedNames, NO_NAMES } from "../../request/fitted-names.js";
import { NAMES, WIRE_NAME } from "../facts.js";
import { decodeUsage, isBrokenUsage } from "./usage.js";

const CANDIDATES_MAX = 128;
const NO_TOOLS: ReadonlySet<string> = new Set();

/** Tools that search, by their prices: an answer does not tell them apart. */
const SEARCHES = ["web_search", "enterprise_web_search", "exa_ai_search", "parallel_ai_search"];
const GROUNDINGS = [...SEARCHES, "google_maps"];
/** The members of a grounding that list queries. */
const QUERIES = ["webSearchQueries", "imageSearchQueries"];

/** One answer, as far as it was read. An error is looked for before candidates. */
export class AnswerReader extends AnswerCollector implements AnswerReport, CandidateCollector {
  usage: Usage | undefined;
  usageBroken = false;
  answerId = "";
  readonly values = new ValueBudget();
  readonly freeTextTools: ReadonlySet<string>;
  readonly names: ReadonlyMap<string, string>;
  /** True once the upstream refused the prompt: then there are no candidates. */
  isBlocked = false;
  private hasStarted = false;
  /** What every chunk bears. */
  private head: JsonObject = {};
  private hasEnded = false;
  private readonly candidates = new Map<number, CandidateReader>();
  /** The searches of each candidate, as its grounding tells them. */
  private readonly searches = new Map<unknown, number>();

  constructor(
    isTyped: boolean,
    private readonly candidatesExpected: number,
    asked?: WireRequest,
  ) {
    super(isTyped, asked);
    const isOthers = isTyped && asked !== undefined && asked.source?.wire !== WIRE_NAME;
    this.freeTextTools = isOthers ? freeTextTools(asked.prompt()) : NO_TOOLS;
    this.names = isOthers ? changedNames(asked.prompt(), NAMES) : NO_NAMES;
  }

  /** There is no word for the end: an answer is whole once each candidate said why it ended. */
  get complete(): boolean {
    if (this.candidates.size === 0) return this.isBlocked;
    if (this.candidates.size < this.candidatesExpected) return false;
    for (const candidate of this.candidates.values()) if (!candidate.isFinished) return false;
    return true;
  }

  /**
   * Reads one chunk, or one whole answer. Returns the error that it tells. `data` is what it was parsed from, or what
   * `root` was parsed from, which holds it.
   */
  read(chunk: JsonObject, data?: Buffer, root: unknown = chunk): GatewayError | undefined {
    this.begins(root, data);
    const error = chunk["error"];
    if (error !== undefined && error !== null) return decodeToldError(chunk);
    const usage = chunk["usageMetadata"];
    if (usage !== undefined) {
      this.usage = this.latestUsage(this.usage, decodeUsage(usage));
      this.usageBroken = isBrokenUsage(usage);
      this.serviceTier = textOf(objectOf(usage)?.["serviceTier"]) || this.serviceTier;
    }
    this.noteExtrasIn(chunk, CHUNK_KINDS);
    this.start(chunk);
    const blockReason = textOf(objectOf(chunk["promptFeedback"])?.["blockReason"]);
    if (blockReason !== "" && blockReason !== "BLOCK_REASON_UNSPECIFIED") this.isBlocked = true;
    listOf(chunk["candidates"]).forEach((value, place) => {
      const candidate = objectOf(value);
      if (candidate === undefined) return;
      this.noteExtrasIn(candidate, CANDIDATE_KINDS);
      this.readerFor(candidate["index"], place).read(candidate);
      const grounding = objectOf(candidate["groundingMetadata"]);
      if (grounding !== undefined) this.noteGrounding(candidate["index"] ?? place, grounding);
    });
    // What grounds an answer is told with its end: until then nothing tells which tools ran.
    if (this.complete) this.showsCalls(GROUNDINGS);
    if (usage !== undefined) this.noteTold(this.complete);
    return undefined;
  }

  endAtLimit(): readonly JsonObject[] {
    const candidates: JsonObject[] = [];
    for (let index = 0; index < this.candidatesExpected; index++) {
      if (this.candidates.get(index)?.isFinished === true) continue;
      candidates.push({ index, content: { role: "model", parts: [{ text: "" }] }, finishReason: "MAX_TOKENS" });
    }
    return candidates.length === 0 ? [] : [{ candidates, ...this.head }];
  }

  /** Nothing follows: the ends of the candidates come out. */
  finish(isWhole: boolean): void {
    for (const candidate of this.candidates.values()) candidate.finish(isWhole);
    if (!this.isTyped || !this.isBlocked || this.candidates.size > 0 || this.hasEnded) return;
    this.hasEnded = true;
    for (let candidate = 0; candidate < Math.max(1, this.candidatesExpected); candidate++)
      this.tellEnd(candidate, FinishReason.FINISH_REASON_BLOCKED, undefined);
  }

  /** Each chunk tells all of its candidate's searches so far. What is grounded and names no query took one. */
  private noteGrounding(candidate: unknown, grounding: JsonObject): void {
    const chunks = listOf(grounding["groundingChunks"]).map(objectOf);
    const isOfMaps = grounding["googleMapsWidgetContextToken"] !== undefined || chunks.some((chunk) => chunk?.["maps"]);
    const isOfSearch = grounding["searchEntryPoint"] !== undefined || chunks.some((chunk) => chunk?.["web"]);
    const queries = QUERIES.reduce((sum, name) => sum + listOf(grounding[name]).length, 0);
    const asked = this.askedTool(...SEARCHES);
    if (isOfMaps) this.noteCalls("google_maps", 1);
    // Places are looked up by queries, too.
    if (isOfMaps && !isOfSearch && asked === undefined) return;
    const searches = queries || Number(isOfSearch);
    if (searches === 0) return;
    this.searches.set(candidate, searches);
    this.noteCalls(
      asked ?? "web_search",
      [...this.searches.values()].reduce((sum, count) => sum + count),
    );
  }

  /** A call of a tool that Google runs is told; where no grounding tells more of it, that counts. */
  noteToolCall(call: JsonObject): void {
    const type = textOf(call["toolType"]);
    if (type.startsWith("GOOGLE_MAPS")) this.noteCalls("google_maps", 1);
    else if (type.includes("SEARCH") && this.searches.size === 0)
      this.countCall(this.askedTool(...SEARCHES) ?? "web_search");
  }

  private start(chunk: JsonObject): void {
    if (this.hasStarted) return;
    this.hasStarted = true;
    this.head = { modelVersion: chunk["modelVersion"], responseId: chunk["responseId"] };
    // Where an answer has no id, the counts and words of its first chunk still tell it from others.
    this.answerId = textOf(chunk["responseId"]) || JSON.stringify(chunk);
    this.servedModel = textOf(chunk["modelVersion"]);
    if (!this.isTyped) return;
    const time = Date.parse(textOf(chunk["createTime"]));
    const value = {
      id: textOf(chunk["responseId"]),
      model: this.servedModel,
      createTime: Number.isNaN(time) ? undefined : new Date(time),
    };
    this.add({ kind: { $case: "start", value } });
  }

  private readerFor(named: unknown, place: number): CandidateReader {
    const index = placeOf(named, CANDIDATES_MAX) ?? Math.min(place, CANDIDATES_MAX - 1);
    this.hasBegun = true;
    const known = this.candidates.get(index);
    if (known !== undefined) return known;
    const made = new CandidateReader(index, this);
    this.candidates.set(index, made);
    return made;
  }
}
