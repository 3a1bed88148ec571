/** How a call meets the replays: any method that wants one, and the methods that resume, cancel and hand back. */
import type { Sink } from "../api/channel.js";
import {
  InferenceServiceService,
  type ReportUndeliveredRequest,
  type ResumeStreamResponse,
  type StreamGenerateResponse,
  UsageSource,
} from "../api/index.js";
import { NO_USAGE } from "../api/usage.js";
import { type AnyMethod, serviceMethod } from "../api/methods.js";
import { GatewayError } from "../errors.js";
import { Ask, ORIGINAL_HEADER } from "../gateway/replay/ask.js";
import type { GatewayCall } from "../gateway/gateway.js";
import type { Replays } from "../gateway/replay/replays.js";
import { bodyTooLarge } from "./bounds.js";
import { required } from "./check.js";
import type { CoreParts } from "./core.js";
import type { ServerCall } from "./dispatcher.js";
import type { Handlers, ServiceCall, StreamHandler, UnaryHandler } from "./handler.js";

/** The most bytes of an answer that is handed back. */
const UNDELIVERED_BYTES_MAX = 4 * 1024 * 1024;

/** Runs a unary method, or answers with what another call of it made. */
export async function unaryReplayed(
  replays: Replays,
  path: string,
  request: unknown,
  { metadata }: ServerCall,
  service: ServiceCall,
  handler: UnaryHandler<unknown, unknown>,
): Promise<unknown> {
  let answer: unknown;
  const sink: Sink<unknown> = {
    head: (told) => service.head(told),
    data: (message) => {
      answer = message;
      return true;
    },
    onDrain: () => undefined,
  };
  const ask = new Ask(methodAt(path), request, metadata);
  await replays.serve(ask, service, sink, async (call, out) => {
    out.data(await handler(request, serviceCall(call, out)));
  });
  return answer;
}

/** Runs a streaming method, or answers with what another call of it answers. */
export function streamReplayed(
  replays: Replays,
  path: string,
  request: unknown,
  { metadata }: ServerCall,
  service: ServiceCall,
  sink: Sink<unknown>,
  handler: StreamHandler<unknown, unknown>,
): Promise<void> {
  const ask = new Ask(methodAt(path), request, metadata);
  return replays.serve(ask, service, sink, (call, out) => handler(request, serviceCall(call, out), out));
}

/** The methods of InferenceService that are about answers that were made before. */
export function replayMethods({
  replays,
}: Pick<CoreParts, "replays">): Pick<
  Handlers<typeof InferenceServiceService>,
  "resumeStream" | "cancelStream" | "reportUndelivered"
> {
  return {
    resumeStream: async ({ requestId, afterBatches }, call, sink) => {
      const id = required("request_id", requestId);
      if (replays === undefined) throw notKept(id);
      await replays.resume(id, call, (source) => resumedSink(id, source, sink), Number(afterBatches));
    },
    cancelStream: async ({ requestId }, call) => {
      const id = required("request_id", requestId);
      if (replays === undefined) throw notKept(id);
      return { requestId: id, ...(await replays.cancel(id, call.caller)) };
    },
    reportUndelivered: async (request, { caller }) => {
      const requestId = required("request_id", request.requestId);
      if (request.body.length > UNDELIVERED_BYTES_MAX) throw bodyTooLarge();
      const { path } = InferenceServiceService.streamGenerate;
      const ask = new Ask<unknown, unknown>(methodAt(path), request.request ?? { acceptWire: "" }, {});
      await replays?.keepUndelivered(requestId, caller, ask, request.headers, lostAnswer(request));
      return {};
    },
  };
}

/** The source first, then the batches. */
function resumedSink(
  requestId: string,
  source: ResumeStreamResponse["source"],
  sink: Sink<ResumeStreamResponse>,
): Sink<unknown> {
  return {
    head: (metadata) => {
      sink.head({ ...metadata, [ORIGINAL_HEADER]: requestId });
      sink.data({ source, batch: undefined });
    },
    // Only generations are kept for this, so their messages are batches.
    data: (batch) => sink.data({ source: undefined, batch: batch as StreamGenerateResponse }),
    onDrain: (callback) => sink.onDrain(callback),
  };
}

/**
 * The answer as its own upstream would have sent it; undefined where it was too large to come. What it cost was told to
 * the attempt that was lost.
 */
function lostAnswer({ body }: ReportUndeliveredRequest): StreamGenerateResponse | undefined {
  if (body.length === 0) return undefined;
  const finish = { usage: NO_USAGE, usageSource: UsageSource.USAGE_SOURCE_NONE, costNanos: 0n };
  return { events: [{ kind: { $case: "finish", value: finish } }], source: Buffer.from(body) };
}

function serviceCall(call: GatewayCall, out: Sink<unknown>): ServiceCall {
  const { caller, requestId, signal, callerEndMs, beforeHold } = call;
  return { caller, requestId, signal, callerEndMs, beforeHold, head: (metadata) => out.head(metadata) };
}

function methodAt(path: string): AnyMethod {
  const method = serviceMethod(path);
  if (method === undefined) throw new Error(`the protocol has no method ${path}`);
  return method;
}

function notKept(requestId: string): GatewayError {
  return new GatewayError("ERROR_REASON_STREAM_GONE", { request: requestId });
}
