/** The channel to services in this process: the same message objects, no bytes between. */
import type { Admission, CallMetadata, CallOptions, Channel, Entry, Method, Reply, Sink } from "../../api/channel.js";
import type { Dispatcher } from "../call/dispatcher.js";
import type { ServerCall, StreamOutcome } from "../call/server-call.js";
import { errorOf, statusOf } from "../call/status.js";

export interface InProcessOptions {
  /** Encodes and decodes every message and refusal, to prove that nothing but the protocol's fields crosses. */
  readonly encode?: boolean;
}

export function createInProcessChannel(dispatcher: Dispatcher, options: InProcessOptions = {}): Channel {
  return options.encode === true ? new EncodingChannel(dispatcher) : new InProcessChannel(dispatcher);
}

class InProcessChannel implements Channel {
  constructor(readonly dispatcher: Dispatcher) {}

  admit(entry: Entry, metadata: CallMetadata): Admission | Promise<Admission> {
    return admit(this.dispatcher, entry, metadata);
  }

  queueOf(metadata: CallMetadata): string {
    return this.dispatcher.queueOf(metadata);
  }

  async unary<Request, Response>(
    method: Method<Request, Response>,
    request: Request,
    options: CallOptions,
  ): Promise<Reply<Response>> {
    const outcome = await this.dispatcher.unary(method, request, serverCall(options));
    if (outcome.kind === "refused") throw outcome.error;
    return outcome;
  }

  stream<Request, Response>(
    method: Method<Request, Response>,
    request: Request,
    options: CallOptions,
    sink: Sink<Response>,
  ): Promise<void> {
    return this.dispatcher.stream(method, request, serverCall(options), sink).then(throwRefusal);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

/** The same with bytes between. */
class EncodingChannel implements Channel {
  constructor(readonly dispatcher: Dispatcher) {}

  admit(entry: Entry, metadata: CallMetadata): Admission | Promise<Admission> {
    return admit(this.dispatcher, entry, metadata);
  }

  queueOf(metadata: CallMetadata): string {
    return this.dispatcher.queueOf(metadata);
  }

  async unary<Request, Response>(
    method: Method<Request, Response>,
    request: Request,
    options: CallOptions,
  ): Promise<Reply<Response>> {
    const outcome = await this.dispatcher.unary(method, requestOver(method, request), serverCall(options));
    if (outcome.kind === "refused") throw errorOf(statusOf(outcome.error, {}));
    return { message: responseOver(method, outcome.message), head: { ...outcome.head } };
  }

  async stream<Request, Response>(
    method: Method<Request, Response>,
    request: Request,
    options: CallOptions,
    sink: Sink<Response>,
  ): Promise<void> {
    const outcome = await this.dispatcher.stream(method, requestOver(method, request), serverCall(options), {
      head: (metadata: CallMetadata) => sink.head({ ...metadata }),
      data: (message: Response) => sink.data(responseOver(method, message)),
      onDrain: (callback) => sink.onDrain(callback),
    });
    if (outcome.kind === "refused") throw errorOf(statusOf(outcome.error, {}));
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

function admit(dispatcher: Dispatcher, entry: Entry, metadata: CallMetadata): Admission | Promise<Admission> {
  // Whether the method changes something is judged when it runs.
  const user = entry.method !== undefined && dispatcher.permissionOf(entry.method)?.user === true;
  const permission = { operator: false, scope: entry.scope, user, reads: true };
  return dispatcher.admit(permission, { metadata, peer: "", local: true }, entry.method, entry.isLong);
}

function throwRefusal(outcome: StreamOutcome): void {
  if (outcome.kind === "refused") throw outcome.error;
}

function serverCall(options: CallOptions): ServerCall {
  return {
    metadata: options.metadata,
    signal: options.signal,
    timeoutMs: options.timeoutMs,
    peer: "",
    local: true,
    admission: options.admission,
  };
}

function requestOver<Request, Response>(method: Method<Request, Response>, request: Request): Request {
  return method.requestDeserialize(method.requestSerialize(request));
}

function responseOver<Request, Response>(method: Method<Request, Response>, response: Response): Response {
  return method.responseDeserialize(method.responseSerialize(response));
}
