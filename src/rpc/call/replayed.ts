/** How a call meets answers that are kept: any method that asks for one, and the methods that resume and cancel. */
import type { CallMetadata, CallSink, Sink } from "../../api/channel.js";
import {
  type InferenceServiceService,
  type ResumeStreamResponse,
  type StreamGenerateResponse,
} from "../../api/index.js";
import { requiredMethod } from "../../api/methods.js";
import { GatewayError } from "../../base/errors.js";
import { Ask, ORIGINAL_HEADER } from "../../gateway/replay/ask.js";
import { NO_ACT } from "./call-audit.js";
import { AnswerSink } from "./head.js";
import type { GatewayCall } from "../../gateway/gateway.js";
import type { Replays } from "../../gateway/replay/replays.js";
import { required } from "../../api/check.js";
import type { CoreParts } from "./core.js";
import type { PermittedCall } from "./chain.js";
import type { Handlers, ServiceCall, StreamHandler, UnaryHandler } from "./handler.js";

/** Answers with what another run of the call makes or made, which it asked for. */
export function replayed(replays: Replays, permitted: PermittedCall): Promise<unknown> {
  return permitted.sink === undefined
    ? unaryReplayed(replays, permitted, permitted.handler)
    : streamReplayed(replays, permitted, permitted.sink, permitted.handler);
}

async function unaryReplayed(
  replays: Replays,
  permitted: PermittedCall,
  handler: UnaryHandler<unknown, unknown>,
): Promise<unknown> {
  const { request, service } = permitted;
  let answer: unknown;
  const sink = new AnswerSink<unknown>(service.requestId, {
    head: (told) => service.head(told),
    data: (message) => {
      answer = message;
      return true;
    },
    onDrain: () => undefined,
  });
  await replays.serve(askOf(permitted), service, sink, async (call, out) => {
    out.data(await handler(request, serviceCall(call, out, service.act)));
  });
  return answer;
}

function streamReplayed(
  replays: Replays,
  permitted: PermittedCall,
  sink: CallSink<unknown>,
  handler: StreamHandler<unknown, unknown>,
): Promise<void> {
  const { request, service } = permitted;
  return replays.serve(askOf(permitted), service, sink, (call, out) =>
    handler(request, serviceCall(call, out, NO_ACT), out),
  );
}

function askOf({ route, request, service }: PermittedCall): Ask<unknown, unknown> {
  return new Ask(requiredMethod(route.path), request, service.metadata);
}

/** The methods of InferenceService that are about answers that were made before. */
export function replayMethods({
  replays,
}: Pick<CoreParts, "replays">): Pick<Handlers<typeof InferenceServiceService>, "resumeStream" | "cancelStream"> {
  return {
    resumeStream: async ({ requestId, afterBatches }, call, sink) => {
      const id = required("request_id", requestId);
      if (replays === undefined) throw notKept(id);
      await replays.resume(id, call, (source) => resumedSink(id, source, sink), Number(afterBatches));
    },
    cancelStream: async ({ requestId }, call) => {
      const id = required("request_id", requestId);
      if (replays === undefined) throw notKept(id);
      return { requestId: id, ...(await replays.cancel(id, call)) };
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

function serviceCall(call: GatewayCall, out: Sink<unknown>, act: ServiceCall["act"]): ServiceCall {
  const { caller, requestId, signal, callerEndMs, beforeHold, record } = call;
  const head = (metadata: CallMetadata): void => out.head(metadata);
  // The run outlives the call that began it, and nothing of a generation asks where that came from.
  const origin = { address: "", metadata: {}, local: false };
  return { caller, requestId, ...origin, signal, callerEndMs, beforeHold, record, act, head };
}

function notKept(requestId: string): GatewayError {
  return new GatewayError("ERROR_REASON_STREAM_GONE", { request: requestId });
}
