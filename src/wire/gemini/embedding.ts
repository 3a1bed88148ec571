/** Vectors from Google: a batch of texts in one request, and their vectors in its order. */
import assert from "node:assert/strict";
import type { Embedding } from "../../api/index.js";
import { NO_USAGE } from "../../api/usage.js";
import { GatewayError } from "../../errors.js";
import { type JsonObject, listOf, objectOf, parsed } from "../json/value.js";
import { memberTable } from "../members.js";
import { EMBEDDING_WIRE_NAME, encodeText, GeminiEmbeddingRequest } from "./embedding-client.js";
import { tokenCount } from "../token-count.js";
import type { DecodedAnswer, EndpointWire, OwnedFields, WireRequest } from "../wire.js";

/** All of the body is the gateway's own. */
const MEMBERS = memberTable({ owned: ["requests"] });

export const embeddingWire: EndpointWire = {
  name: EMBEDDING_WIRE_NAME,
  members: MEMBERS,
  encodeRequest,
  decodeAnswer,
};

/** Throws PARAMETER_UNSUPPORTED for tokens: they are those of another model. */
function encodeRequest(request: WireRequest, { model }: OwnedFields): Buffer {
  const { embedding } = request;
  if (request instanceof GeminiEmbeddingRequest) {
    const requests = request.texts.map((text) => encodeText(text, model, request.dimensions));
    return Buffer.from(JSON.stringify({ requests }));
  }
  assert(embedding !== undefined, "only a request for vectors comes here");
  const requests = embedding.inputs().map((input) => {
    if (typeof input !== "string") throw tokensRefused(model);
    return encodeText({ text: input, taskType: undefined, title: undefined }, model, embedding.dimensions);
  });
  return Buffer.from(JSON.stringify({ requests }));
}

/** Throws UPSTREAM_FAILED where it is none, or where it leaves an input without its vector. */
function decodeAnswer(body: Buffer, asked?: WireRequest): DecodedAnswer {
  const answer = objectOf(parsed(body.toString()));
  const vectors = listOf(answer?.["embeddings"]);
  const expected = asked?.facts.inputCount ?? vectors.length;
  if (vectors.length === 0 || vectors.length !== expected)
    throw unreadable(`it answered ${vectors.length} vectors for ${expected} inputs`);
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
  if (source?.wire !== EMBEDDING_WIRE_NAME) return false;
  return objectOf(parsed(source.body.toString()))?.["requests"] === undefined;
}

function alone({ embeddings, ...rest }: JsonObject): Buffer {
  return Buffer.from(JSON.stringify({ embedding: listOf(embeddings)[0], ...rest }));
}

function readVector(entry: unknown): Embedding {
  const values = listOf(objectOf(entry)?.["values"]);
  const numbers = values.filter((value) => typeof value === "number");
  if (numbers.length === 0 || numbers.length !== values.length) throw unreadable("its answer holds no vectors");
  return { values: numbers };
}

function tokensRefused(model: string): GatewayError {
  const problem = "it takes texts, and these are tokens of another model";
  return new GatewayError("ERROR_REASON_PARAMETER_UNSUPPORTED", { param: "input", model, problem });
}

function unreadable(problem: string): GatewayError {
  return new GatewayError("ERROR_REASON_UPSTREAM_FAILED", { problem });
}
