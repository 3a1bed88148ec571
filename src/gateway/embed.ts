/** Embeddings: reads the client's own body or the typed form, and runs both through one pipeline. */
import { asBuffer } from "../base/bytes/bytes.js";
import type { EmbedRequest, EmbedResponse } from "../api/index.js";
import type { CallMetadata } from "../api/channel.js";
import { TYPED_TEXTS } from "../api/typed-form.js";
import { GatewayError } from "../base/errors.js";
import { whenReady } from "../base/when-ready.js";
import { isLongBody, type WireRequest } from "../wire/wire.js";
import { noteArrival, requireBodySize } from "./arrival.js";
import type { GatewayCall } from "./gateway.js";
import type { ParsedRequest } from "./generate.js";
import type { Steps } from "./steps.js";
import { typedEmbedding } from "./typed-embedding.js";
import { answerWhole, NO_GENERATION } from "./whole.js";

/** Runs one embedding request. Admission, hold and settlement are those of any request. */
export async function embed(
  asked: EmbedRequest,
  call: GatewayCall,
  head: (metadata: CallMetadata) => void,
  steps: Steps,
): Promise<EmbedResponse> {
  noteArrival(asked.source, asked.model, call);
  requireBodySize(asked.source);
  const read = (): ParsedRequest | Promise<ParsedRequest> => readEmbedding(asked, asked.acceptWire, call, steps);
  const { embeddings, ...answer } = await answerWhole(read, call, head, steps);
  return { ...answer, embeddings: [...embeddings] };
}

/** Reads the request from a client's own body or from the typed form. Throws BODY_INVALID or PARAMETER_*. */
export function readEmbedding(
  asked: EmbedRequest,
  acceptWire: string,
  call: GatewayCall,
  steps: Steps,
): ParsedRequest | Promise<ParsedRequest> {
  return whenReady(readRequest(asked, call, steps), (request) => ({ request, generation: NO_GENERATION, acceptWire }));
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
