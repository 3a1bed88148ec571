/** Vectors for texts: read as a client's own body or in the typed form, and run through one pipeline. */
import { invalid } from "../api/check.js";
import { asBuffer } from "../api/bytes.js";
import type { Embedding, EmbedRequest, EmbedResponse, Generation } from "../api/index.js";
import type { CallMetadata } from "../api/channel.js";
import { AnswerFold } from "../api/answer-fold.js";
import { GatewayError } from "../errors.js";
import { EMBEDDING_INPUTS_MAX, embeddingFacts, markedBytes, noPrompt } from "../wire/request/embedding.js";
import { isLongBody, type WireRequest } from "../wire/wire.js";
import { noteArrival, requireBodySize } from "./arrival.js";
import type { GatewayCall } from "./gateway.js";
import { type Asked, generate } from "./generate.js";
import type { AnswerBatch } from "./meter.js";
import type { Steps } from "./steps.js";

const MODEL_LENGTH_MAX = 256;
const NOTHING_SAID: Generation = { model: "", input: undefined, outputTokensMax: undefined, clamp: undefined };

/** Runs one request for vectors. Admission, hold and settlement are those of any request. */
export async function embed(
  asked: EmbedRequest,
  call: GatewayCall,
  head: (metadata: CallMetadata) => void,
  steps: Steps,
): Promise<EmbedResponse> {
  noteArrival(asked.source, asked.model, call);
  requireBodySize(asked.source);
  const fold = new AnswerFold();
  let embeddings: readonly Embedding[] = [];
  let source: Buffer = Buffer.alloc(0);
  const sink = {
    head,
    data: (message: AnswerBatch): boolean => {
      fold.push(message.events);
      embeddings = message.embeddings ?? [];
      source = message.source;
      return true;
    },
    onDrain: (): void => undefined,
  };
  let asksFor = "";
  const noted = (read: Asked): Asked => {
    asksFor = read.request.facts.model;
    return read;
  };
  const read = (): Asked | Promise<Asked> => {
    const reading = readEmbedding(asked, asked.acceptWire, call, steps);
    return reading instanceof Promise ? reading.then(noted) : noted(reading);
  };
  await generate(read, call, sink, steps);
  const { model, usage, costNanos } = fold.answer();
  return { embeddings: [...embeddings], model: model || asksFor, usage, costNanos, source };
}

/** What is asked, from a client's own body or from the typed form. Throws BODY_INVALID or PARAMETER_*. */
export function readEmbedding(
  asked: EmbedRequest,
  acceptWire: string,
  call: GatewayCall,
  steps: Steps,
): Asked | Promise<Asked> {
  const reading = readRequest(asked, call, steps);
  const generation = NOTHING_SAID;
  if (reading instanceof Promise) return reading.then((request) => ({ request, generation, acceptWire }));
  return { request: reading, generation, acceptWire };
}

function readRequest(
  { model, texts, dimensions, source }: EmbedRequest,
  call: GatewayCall,
  steps: Steps,
): WireRequest | Promise<WireRequest> {
  if (source === undefined) return typedRequest(model, texts, dimensions);
  const wire = steps.embeddingWires.get(source.wire);
  if (wire === undefined) {
    const problem = `must be one of ${[...steps.embeddingWires.keys()].join(", ")}`;
    throw new GatewayError("ERROR_REASON_PARAMETER_INVALID", { param: "source.wire", problem });
  }
  const body = asBuffer(source.body);
  const read = { wire: wire.name, body, headers: source.headers };
  if (isLongBody(body)) return steps.longBodies.read(read, "embed", call.caller.accountId);
  return wire.readRequest(read);
}

/** A request in the typed form, checked as a wire would. Throws PARAMETER_MISSING or PARAMETER_INVALID. */
function typedRequest(model: string, texts: readonly string[], dimensions: number | undefined): WireRequest {
  if (model === "") throw new GatewayError("ERROR_REASON_PARAMETER_MISSING", { param: "model" });
  if (model.length > MODEL_LENGTH_MAX) throw invalid("model", "is too long");
  if (texts.length === 0) throw new GatewayError("ERROR_REASON_PARAMETER_MISSING", { param: "texts" });
  if (texts.length > EMBEDDING_INPUTS_MAX) throw invalid("texts", `must be at most ${EMBEDDING_INPUTS_MAX}`);
  if (dimensions === 0) throw invalid("dimensions", "must be at least 1");
  return {
    facts: embeddingFacts(model, markedBytes(texts), texts.length),
    source: undefined,
    embedding: { encoding: "float", dimensions, inputs: () => texts },
    prompt: noPrompt,
  };
}
