/**
 * Reads the rankings of all servers, and writes each in the one form that the clients of all can read: `results` with
 * the best first, the tokens under `usage` and the units under `meta`.
 */
import type { Meter, Usage } from "../../../api/index.js";
import { meterOf, NO_METERS } from "../../../api/meters.js";
import { NO_USAGE } from "../../../api/usage.js";
import { startOf } from "../../answer/start.js";
import { hasBrokenCount, tokenCount } from "../../answer/token-count.js";
import { upstreamFailed } from "../../error/refusals.js";
import { type JsonObject, listOf, objectOf, parsed, textOf } from "../../json/value.js";
import type { DecodedAnswer, WireRequest } from "../../wire.js";
import { documentText, RerankRequest, type Said, saidIn } from "../request/decode.js";

const COUNTS = ["prompt_tokens", "total_tokens"];
const NOTHING_SAID: Said = {
  query: "",
  documents: [],
  resultsMax: undefined,
  returnsDocuments: false,
  isVoyage: false,
};

/** Reads an answer. Throws UPSTREAM_FAILED where it is none, or ranks what was not asked. */
export function decodeAnswer(body: Buffer, asked?: WireRequest): DecodedAnswer {
  const root = parsed(body.toString("utf8"));
  // SGLang tells the bare list.
  const answer = objectOf(root) ?? {};
  const list = Array.isArray(root) ? root : (answer["results"] ?? answer["data"]);
  if (!Array.isArray(list) || list.length === 0) throw upstreamFailed("its answer holds no results");
  const said = saidBy(asked);
  const isLarge = body.length > EXTRAS_BYTES_MAX;
  const results = ranked(listOf(list), asked?.facts.inputCount ?? Infinity, isLarge).slice(0, said.resultsMax);
  const usage = usageOf(answer);
  const told = objectOf(answer["usage"]);
  return {
    report: {
      usage,
      usageBroken: hasBrokenCount(told, COUNTS) || hasBrokenCount(unitsIn(answer), ["search_units"]),
      complete: true,
      text: "",
      made: "content",
      servedModel: textOf(answer["model"]),
    },
    events: () => [startOf(answer)],
    source: written(isLarge ? withoutExtras(answer) : answer, results, usage, said, asked),
  };
}

/** A short request knows what it says; of a long one, the outline is read, which holds none of the documents. */
function saidBy(asked: WireRequest | undefined): Said {
  if (asked instanceof RerankRequest) return asked.said;
  return asked?.source === undefined ? NOTHING_SAID : { ...saidIn(asked.source.body), documents: [] };
}

/** A result as its upstream told it. */
interface Result {
  readonly index: number;
  readonly score: number;
  readonly members: JsonObject;
}

/** The best first. Throws UPSTREAM_FAILED where one is of no document, or of the same one again. */
function ranked(list: readonly unknown[], documentCount: number, isBare: boolean): readonly Result[] {
  const seen = new Set<number>();
  const results = list.map((one): Result => {
    const members = objectOf(one) ?? {};
    const { index } = members;
    const score = members["relevance_score"] ?? members["score"];
    if (typeof index !== "number" || !Number.isInteger(index) || index < 0 || index >= documentCount || seen.has(index))
      throw upstreamFailed("its results are not of the documents");
    if (typeof score !== "number") throw upstreamFailed("its results have no scores");
    seen.add(index);
    return { index, score, members: isBare ? { document: members["document"] } : members };
  });
  return results.toSorted((a, b) => b.score - a.score || a.index - b.index);
}

/** Undefined where the upstream told none. */
function usageOf(answer: JsonObject): Usage | undefined {
  const told = objectOf(answer["usage"]);
  const tokens =
    tokenCount(told?.["total_tokens"]) ??
    tokenCount(told?.["prompt_tokens"]) ??
    tokenCount(objectOf(objectOf(answer["meta"])?.["tokens"])?.["input_tokens"]);
  const units = tokenCount(unitsIn(answer)?.["search_units"]);
  if (tokens === undefined && units === undefined) return undefined;
  return { ...NO_USAGE, inputTokens: BigInt(tokens ?? 0), meters: metersOf(units) };
}

function metersOf(units: number | undefined): Meter[] {
  return units === undefined ? NO_METERS : meterOf("search_unit", BigInt(units));
}

function unitsIn(answer: JsonObject): JsonObject | undefined {
  return objectOf(objectOf(answer["meta"])?.["billed_units"]);
}

/** Beyond this length nothing of an answer is handed on but what a ranking has: it is read on the event loop, too. */
const EXTRAS_BYTES_MAX = 1024 * 1024;

function withoutExtras(answer: JsonObject): JsonObject {
  const texts = ["id", "object", "model"].filter((name) => typeof answer[name] === "string");
  const units = tokenCount(unitsIn(answer)?.["search_units"]);
  const usage = objectOf(answer["usage"]);
  const counts = COUNTS.map((name) => [name, tokenCount(usage?.[name])]);
  return {
    ...Object.fromEntries(texts.map((name) => [name, answer[name]])),
    ...(units === undefined ? {} : { meta: { billed_units: { search_units: units } } }),
    ...(usage === undefined ? {} : { usage: Object.fromEntries(counts) }),
  };
}

function written(
  answer: JsonObject,
  results: readonly Result[],
  usage: Usage | undefined,
  said: Said,
  asked: WireRequest | undefined,
): Buffer {
  const { results: _results, data: _data, meta, usage: told, ...rest } = answer;
  const list = results.map((one) => entryOf(one, said));
  const known = objectOf(meta) ?? {};
  const tokens = Number(usage?.inputTokens ?? 0n);
  const counts = tokens === 0 ? {} : { prompt_tokens: tokens, total_tokens: tokens };
  const billed = objectOf(known["billed_units"]) ?? billedUnits(tokens, asked);
  return Buffer.from(
    JSON.stringify({
      ...rest,
      ...(said.isVoyage ? { object: "list", data: list } : { results: list }),
      ...(rest["model"] === undefined && asked !== undefined ? { model: asked.facts.model } : {}),
      meta: { api_version: { version: "2" }, ...known, billed_units: billed },
      ...(told === undefined && tokens === 0 ? {} : { usage: { ...counts, ...objectOf(told) } }),
    }),
  );
}

/** As Cohere's clients read them: the tokens that were told, else the units that the request has by its length. */
function billedUnits(tokens: number, asked: WireRequest | undefined): JsonObject {
  if (tokens > 0) return { input_tokens: tokens };
  const [expected] = asked?.facts.metersExpected ?? [];
  return expected === undefined ? {} : { search_units: Number(expected.quantity) };
}

/** With the document where the client asked for it: as the upstream told it, else as it was sent. */
function entryOf({ index, score, members }: Result, said: Said): JsonObject {
  const { score: _score, document: told, ...rest } = members;
  const entry = { ...rest, index, relevance_score: score };
  if (!said.returnsDocuments) return entry;
  const sent = told ?? said.documents[index];
  if (sent === undefined) return entry;
  if (said.isVoyage) return { ...entry, document: documentText(sent) ?? sent };
  return { ...entry, document: typeof sent === "string" ? { text: sent } : sent };
}
