/**
 * Reads judgements, which are handed on as they came: a gateway must not invent categories. Where an upstream says only
 * the categories, as Mistral does, `flagged` is written beside them: a client that reads nothing else would take
 * harmful content for harmless.
 */
import { NO_USAGE } from "../../../api/usage.js";
import { startOf } from "../../answer/start.js";
import { hasBrokenCount, tokenCount } from "../../answer/token-count.js";
import { upstreamFailed } from "../../error/refusals.js";
import { type JsonObject, listOf, objectOf, parsed, textOf } from "../../json/value.js";
import type { DecodedAnswer, WireRequest } from "../../wire.js";

/** A judgement of each of the most inputs, at four times the length that they have today. */
const ANSWER_BYTES_MAX = 8 * 1024 * 1024;

/** Reads an answer. Throws UPSTREAM_FAILED where it is none, or where it leaves an input without its judgement. */
export function decodeAnswer(body: Buffer, asked?: WireRequest): DecodedAnswer {
  if (body.length > ANSWER_BYTES_MAX) throw upstreamFailed("its answer is too long");
  const answer = objectOf(parsed(body.toString("utf8")));
  const results = listOf(answer?.["results"]).map(judgementIn);
  if (answer === undefined || results.length === 0) throw upstreamFailed("its answer holds no results");
  const expected = asked?.facts.inputCount ?? results.length;
  if (results.length !== expected) throw upstreamFailed(`it answered ${results.length} results for ${expected} inputs`);
  const usage = objectOf(answer["usage"]);
  const tokens = tokenCount(usage?.["total_tokens"]) ?? tokenCount(usage?.["prompt_tokens"]);
  return {
    report: {
      usage: tokens === undefined ? undefined : { ...NO_USAGE, inputTokens: BigInt(tokens) },
      usageBroken: hasBrokenCount(usage, ["prompt_tokens", "total_tokens"]),
      complete: true,
      text: "",
      made: "content",
      servedModel: textOf(answer["model"]),
    },
    events: () => [startOf(answer)],
    ...(results.every(isWritten)
      ? {}
      : { source: Buffer.from(JSON.stringify({ ...answer, results: results.map(written) })) }),
  };
}

interface Judgement {
  readonly result: JsonObject;
  readonly isFlagged: boolean;
}

/** Throws UPSTREAM_FAILED where a result says neither that content is harmful nor that it is not. */
function judgementIn(one: unknown): Judgement {
  const result = objectOf(one) ?? {};
  const { flagged } = result;
  const categories = Object.values(objectOf(result["categories"]) ?? {});
  const told = [flagged, ...categories].filter((value) => value !== undefined && value !== null);
  // A word that is neither true nor false could mean either.
  if (told.length === 0 || !told.every((value) => typeof value === "boolean"))
    throw upstreamFailed("its results hold no judgement");
  return { result, isFlagged: flagged === true || categories.includes(true) };
}

function isWritten({ result, isFlagged }: Judgement): boolean {
  return result["flagged"] === isFlagged;
}

function written({ result, isFlagged }: Judgement): JsonObject {
  return { ...result, flagged: isFlagged };
}
