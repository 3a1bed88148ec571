/** Reads answers of vectors. What came as the client asked for it is handed on as it came. */
import type { Embedding, Usage } from "../../../api/index.js";
import { NO_USAGE } from "../../../api/usage.js";
import { upstreamFailed } from "../../error/refusals.js";
import { type JsonObject, listOf, objectOf, parsed, textOf } from "../../json/value.js";
import { startOf } from "../../answer/start.js";
import { hasBrokenCount, tokenCount } from "../../answer/token-count.js";
import type { DecodedAnswer, WireRequest } from "../../wire.js";
import { cutVectors, rejoin, type VectorSpan } from "./read-spans.js";
import { readVector } from "./read-vector.js";
import { vectorText } from "./write-vector.js";

const COUNTS = ["prompt_tokens", "total_tokens"];

/** Reads an answer. Throws UPSTREAM_FAILED where it is none, or where it leaves an input without its vector. */
export function decodeAnswer(body: Buffer, asked?: WireRequest): DecodedAnswer {
  const { frame, spans } = cutVectors(body);
  const answer = objectOf(parsed(frame));
  const entries = listOf(answer?.["data"]);
  if (answer === undefined || entries.length === 0) throw upstreamFailed("its answer holds no vectors");
  const expected = asked?.facts.inputCount ?? entries.length;
  if (entries.length !== expected) throw upstreamFailed(`it answered ${entries.length} vectors for ${expected} inputs`);
  const encoding = asked?.embedding?.encoding;
  const usage = objectOf(answer["usage"]);
  const fits = encoding === undefined || spans.every((span) => span.encoding === encoding);
  return {
    report: {
      usage: decodeUsage(usage),
      usageBroken: hasBrokenCount(usage, COUNTS),
      complete: true,
      text: "",
      made: "content",
      servedModel: textOf(answer["model"]),
    },
    events: () => [startOf(answer)],
    embeddings: () => inOrder(entries, spans),
    ...(fits ? {} : { source: rejoin(body, spans, (span) => vectorText(readVector(span), encoding)) }),
  };
}

/** The vectors by the inputs' order, whatever order they came in. */
function inOrder(entries: readonly unknown[], spans: readonly VectorSpan[]): readonly Embedding[] {
  const vectors = entries.map((): Embedding | undefined => undefined);
  for (const [place, entry] of entries.entries()) {
    const fields = objectOf(entry);
    const index = fields?.["index"] ?? place;
    const span = spans[Number(fields?.["embedding"])];
    if (typeof index !== "number" || span === undefined) throw upstreamFailed("its answer holds no vectors");
    if (!(index in vectors) || vectors[index] !== undefined) throw upstreamFailed("its vectors are not numbered");
    vectors[index] = { values: readVector(span) };
  }
  return vectors.filter((vector) => vector !== undefined);
}

/** Nothing is generated, so all of it is input, whatever else an upstream may count. */
function decodeUsage(usage: JsonObject | undefined): Usage | undefined {
  const count = tokenCount(usage?.["prompt_tokens"]) ?? tokenCount(usage?.["total_tokens"]);
  return count === undefined ? undefined : { ...NO_USAGE, inputTokens: BigInt(count) };
}
