/** Requests of surfaces, such as rerank: asked once, answered whole, and run through the one pipeline. */
import { asBuffer } from "../base/bytes/bytes.js";
import { AnswerFold } from "../api/answer-fold.js";
import type { CallMetadata } from "../api/channel.js";
import type { Generation, Source, Usage } from "../api/index.js";
import { GatewayError } from "../base/errors.js";
import { whenReady } from "../base/when-ready.js";
import { isLongBody, type SurfaceWire } from "../wire/wire.js";
import { noteArrival, requireBodySize } from "./arrival.js";
import type { GatewayCall } from "./gateway.js";
import { generate, type ParsedRequest } from "./generate.js";
import type { AnswerBatch } from "./meter-types.js";
import type { Steps } from "./steps.js";

const NOTHING_SAID: Generation = { model: "", input: undefined, outputTokensMax: undefined, clamp: undefined };

/** What a surface answered, in the wire of its clients. */
export interface SurfaceAnswer {
  /** The model that answered, as the upstream names it. */
  readonly model: string;
  readonly usage: Usage | undefined;
  readonly costNanos: bigint;
  readonly body: Buffer;
}

/** Runs one request of a surface. Admission, hold and settlement are those of any request. */
export async function askSurface(
  source: Source,
  wire: SurfaceWire,
  call: GatewayCall,
  head: (metadata: CallMetadata) => void,
  steps: Steps,
): Promise<SurfaceAnswer> {
  noteArrival(source, "", call);
  const fold = new AnswerFold();
  let body: Buffer = Buffer.alloc(0);
  const sink = {
    head,
    data: (message: AnswerBatch): boolean => {
      fold.push(message.events);
      body = message.source;
      return true;
    },
    onDrain: (): void => undefined,
  };
  let asksFor = "";
  const noted = (read: ParsedRequest): ParsedRequest => {
    asksFor = read.request.facts.model;
    return read;
  };
  await generate(() => whenReady(readSurface(source, wire, call, steps), noted), call, sink, steps);
  const { model, usage, costNanos } = fold.answer();
  return { model: model || asksFor, usage, costNanos, body };
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
  return whenReady(request, (parsed) => ({ request: parsed, generation: NOTHING_SAID, acceptWire: wire.name }));
}
