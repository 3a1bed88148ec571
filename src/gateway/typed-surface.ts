/** Requests of surfaces in the typed form, as services send them over gRPC: written as a body of the surface's wire. */
import type { ModerateRequest, ModerationResult, RerankRequest, RerankResult, Source } from "../api/index.js";
import { invalid } from "../api/check.js";
import { GatewayError } from "../base/errors.js";
import { INPUTS_MAX } from "../wire/request/read-only.js";
import { listOf, objectOf, parsed } from "../wire/json/value.js";

/** The client's own body, or one of the wire that says the same. Throws PARAMETER_MISSING. */
export function rerankSource(request: RerankRequest, wire: string): Source {
  const { source, model, query, documents, resultsMax } = request;
  if (source !== undefined) return source;
  requireSaid("query", query.length);
  requireSaid("documents", documents.length);
  if (resultsMax === 0) throw invalid("results_max", "must be at least 1");
  return sourceOf(wire, { model, query, documents, top_n: resultsMax });
}

/** The same of a moderation. */
export function moderationSource({ source, model, texts }: ModerateRequest, wire: string): Source {
  if (source !== undefined) return source;
  requireSaid("texts", texts.length);
  if (texts.length > INPUTS_MAX) throw invalid("texts", `must be at most ${INPUTS_MAX}`);
  return sourceOf(wire, { model: model === "" ? undefined : model, input: texts });
}

/** Throws PARAMETER_MISSING. */
export function requireSaid(param: string, length: number): void {
  if (length === 0) throw new GatewayError("ERROR_REASON_PARAMETER_MISSING", { param });
}

/** A body of the wire. */
export function sourceOf(wire: string, body: object): Source {
  return { wire, body: Buffer.from(JSON.stringify(body)), headers: {} };
}

/** The results of an answer that the surface's wire wrote. */
export function rerankResults(body: Buffer): RerankResult[] {
  return resultsIn(body).map((result) => ({
    index: Number(result["index"]),
    relevanceScore: Number(result["relevance_score"]),
  }));
}

/** The same of a moderation. */
export function moderationResults(body: Buffer): ModerationResult[] {
  return resultsIn(body).map((result) => ({
    flagged: result["flagged"] === true,
    categories: entriesOf(result["categories"], isFlag),
    categoryScores: entriesOf(result["category_scores"], isScore),
  }));
}

function resultsIn(body: Buffer): Readonly<Record<string, unknown>>[] {
  return listOf(objectOf(parsed(body.toString("utf8")))?.["results"]).map((result) => objectOf(result) ?? {});
}

/** Those entries whose value is of the kind: an upstream may tell null of what it did not judge. */
function entriesOf<Value>(object: unknown, isKind: (value: unknown) => value is Value): Record<string, Value> {
  return Object.fromEntries(
    Object.entries(objectOf(object) ?? {}).filter((entry): entry is [string, Value] => isKind(entry[1])),
  );
}

function isFlag(value: unknown): value is boolean {
  return typeof value === "boolean";
}

function isScore(value: unknown): value is number {
  return typeof value === "number";
}
