/** Requests of surfaces, such as rerank: asked once, answered whole, and run through the one pipeline. */
import { asBuffer } from "../base/bytes/bytes.js";
import type { CallMetadata } from "../api/channel.js";
import type { Source } from "../api/index.js";
import { GatewayError } from "../base/errors.js";
import { whenReady } from "../base/when-ready.js";
import { isLongBody, type SurfaceWire } from "../wire/wire.js";
import { noteArrival, requireBodySize } from "./arrival.js";
import type { GatewayCall } from "./gateway.js";
import type { ParsedRequest } from "./generate.js";
import type { Steps } from "./steps.js";
import { type AnsweredWhole, answerWhole, NO_GENERATION } from "./whole.js";

/** Runs one request of a surface; its answer is in the wire of the surface's clients. */
export function askSurface(
  source: Source,
  wire: SurfaceWire,
  call: GatewayCall,
  head: (metadata: CallMetadata) => void,
  steps: Steps,
): Promise<AnsweredWhole> {
  noteArrival(source, "", call);
  return answerWhole(() => readSurface(source, wire, call, steps), call, head, steps);
}

/** Reads the request from a body of the surface's wire. Throws BODY_INVALID, BODY_TOO_LARGE or PARAMETER_*. */
export function readSurface(
  source: Source,
  wire: SurfaceWire,
  call: GatewayCall,
  steps: Pick<Steps, "longBodies">,
): ParsedRequest | Promise<ParsedRequest> {
  requireBodySize(source);
  if (source.wire !== wire.name) {
    const problem = `must be ${wire.name}`;
    throw new GatewayError("ERROR_REASON_PARAMETER_INVALID", { param: "source.wire", problem });
  }
  const body = asBuffer(source.body);
  const read = { wire: wire.name, body, headers: source.headers };
  const request = isLongBody(body)
    ? steps.longBodies.read(read, "generate", call.caller.accountId)
    : wire.readRequest(read);
  return whenReady(request, (parsed) => ({ request: parsed, generation: NO_GENERATION, acceptWire: wire.name }));
}
