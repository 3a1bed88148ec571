/** Reads the vectors of an answer, in the order of the request's texts. */
import type { Embedding } from "../../../../api/index.js";
import { NO_USAGE } from "../../../../api/usage.js";
import { upstreamFailed } from "../../../error/refusals.js";
import { type JsonObject, listOf, objectOf, parsed } from "../../../json/value.js";
import { isUnreadable } from "../../../json/weight.js";
import { WIRE_NAME } from "../facts.js";
import { tokenCount } from "../../../answer/token-count.js";
import type { DecodedAnswer, WireRequest } from "../../../wire.js";

/** Throws UPSTREAM_FAILED where it is none, or where it leaves an input without its vector. */
export function decodeAnswer(body: Buffer, asked?: WireRequest): DecodedAnswer {
  if (isUnreadable(body)) throw upstreamFailed("its answer holds too many values");
  const answer = objectOf(parsed(body.toString()));
  const vectors = listOf(answer?.["embeddings"]);
  const expected = asked?.facts.inputCount ?? vectors.length;
  if (vectors.length === 0 || vectors.length !== expected)
    throw upstreamFailed(`it answered ${vectors.length} vectors for ${expected} inputs`);
  const embeddings = vectors.map(readVector);
  const tokens = tokenCount(objectOf(answer?.["usageMetadata"])?.["promptTokenCount"]);
  // Where it tells no usage, the gateway counts.
  const usage = tokens === undefined ? undefined : { ...NO_USAGE, inputTokens: BigInt(tokens) };
  return {
    report: { usage, complete: true, text: "", made: "content" },
    events: () => [],
    embeddings: () => embeddings,
    // A client who asked with one content wants its vector alone.
    ...(asked !== undefined && wantsOne(asked) ? { source: alone(answer ?? {}) } : {}),
  };
}

function wantsOne({ source }: WireRequest): boolean {
  if (source?.wire !== WIRE_NAME) return false;
  return objectOf(parsed(source.body.toString()))?.["requests"] === undefined;
}

function alone({ embeddings, ...rest }: JsonObject): Buffer {
  return Buffer.from(JSON.stringify({ embedding: listOf(embeddings)[0], ...rest }));
}

function readVector(entry: unknown): Embedding {
  const values = listOf(objectOf(entry)?.["values"]);
  const numbers = values.filter((value) => typeof value === "number");
  if (numbers.length === 0 || numbers.length !== values.length) throw upstreamFailed("its answer holds no vectors");
  return { values: numbers };
}
