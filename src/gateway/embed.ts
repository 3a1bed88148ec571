/** Embeddings: reads the client's own body or the typed form, and runs both through one pipeline. */
import { asBuffer } from "../base/bytes/bytes.js";
import type { Embedding, EmbedRequest, EmbedResponse, Generation } from "../api/index.js";
import type { CallMetadata } from "../api/channel.js";
import { AnswerFold } from "../api/answer-fold.js";
import { TYPED_TEXTS } from "../api/typed-form.js";
import { GatewayError } from "../base/errors.js";
import { whenReady } from "../base/when-ready.js";
import { isLongBody, type WireRequest } from "../wire/wire.js";
import { noteArrival, requireBodySize } from "./arrival.js";
import type { GatewayCall } from "./gateway.js";
import { type ParsedRequest, generate } from "./generate.js";
import type { AnswerBatch } from "./meter-types.js";
import type { Steps } from "./steps.js";
import { typedEmbedding } from "./typed-embedding.js";

const NOTHING_SAID: Generation = { model: "", input: undefined, outputTokensMax: undefined, clamp: undefined };

/** Runs one embedding request. Admission, hold and settlement are those of any request. */
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
  const noted = (read: ParsedRequest): ParsedRequest => {
    asksFor = read.request.facts.model;
    return read;
  };
  const read = (): ParsedRequest | Promise<ParsedRequest> =>
    whenReady(readEmbedding(asked, asked.acceptWire, call, steps), noted);
  await generate(read, call, sink, steps);
  const { model, usage, costNanos } = fold.answer();
  return { embeddings: [...embeddings], model: model || asksFor, usage, costNanos, source };
}

/** Reads the request from a client's own body or from the typed form. Throws BODY_INVALID or PARAMETER_*. */
export function readEmbedding(
  asked: EmbedRequest,
  acceptWire: string,
  call: GatewayCall,
  steps: Steps,
): ParsedRequest | Promise<ParsedRequest> {
  return whenReady(readRequest(asked, call, steps), (request) => ({ request, generation: NOTHING_SAID, acceptWire }));
}

function readRequest(asked: EmbedRequest, call: GatewayCall, steps: Steps): WireRequest | Promise<WireRequest> {
  const { source } = asked;
  if (source === undefined) return typedEmbedding(asked);
  if (source.wire === TYPED_TEXTS) {
    const typed = { ...source, body: asBuffer(source.body) };
    return steps.longBodies.read(typed, "generate", call.caller.accountId);
  }
  const wire = steps.embeddingWires.get(source.wire);
  if (wire === undefined) {
    const problem = `must be one of ${[...steps.embeddingWires.keys()].join(", ")}`;
    throw new GatewayError("ERROR_REASON_PARAMETER_INVALID", { param: "source.wire", problem });
  }
  const body = asBuffer(source.body);
  const read = { wire: wire.name, body, headers: source.headers };
  if (isLongBody(body)) return steps.longBodies.read(read, "generate", call.caller.accountId);
  return wire.readRequest(read);
}
