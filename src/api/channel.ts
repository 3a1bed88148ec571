/** How a caller reaches the services: the same typed calls in one process and over gRPC. */
import type { CancelSignal } from "../base/cancellation.js";

/** Headers of a call, by lower-case ASCII name. */
export type CallMetadata = Readonly<Record<string, string>>;

/**
 * In the head of a generation: whether the answer comes as a `stream` or `whole`. gRPC keeps `content-type` for itself.
 */
export const FORM_HEADER = "tollgate-form";

/** Before the names of the limits of the operator's own account at an upstream, where clients may see them. */
export const UNIFIED_LIMIT_PREFIX = "x-ratelimit-unified-";

/** One method of a service, as the generated service definitions describe it. */
export interface Method<Request, Response> {
  /** `/tollgate.v1.InferenceService/Generate`. */
  readonly path: string;
  readonly responseStream: boolean;
  readonly requestSerialize: (value: Request) => Buffer;
  readonly requestDeserialize: (bytes: Buffer) => Request;
  readonly responseSerialize: (value: Response) => Buffer;
  readonly responseDeserialize: (bytes: Buffer) => Response;
}

/** A caller that was let in before its request was read. Only the channel that gave it looks inside. */
export interface Admission {
  /** Whose the request's bytes are: names one key, and never shows its secret. */
  readonly holder: string;
}

/** What a caller is about to ask, as far as its headers tell. */
export interface Entry {
  /** Empty: any valid key. */
  readonly scope: string;
  /** The path of the method that follows, where it is known: what begins a request meets its key's limits. */
  readonly method?: string | undefined;
  /** Its body is long, or of unknown length: a core elsewhere is asked before it is read. */
  readonly isLong: boolean;
}

/** What a caller gives with a call. */
export interface CallOptions {
  /** `authorization` or `x-api-key`, and whatever else the service reads. */
  readonly metadata: CallMetadata;
  /** Aborts the call, and with it the upstream's. */
  readonly signal: CancelSignal;
  /** How long the call may take, in milliseconds. Absent: the service's own bounds. */
  readonly timeoutMs?: number | undefined;
  /** What `admit` of the same channel gave for this request, so that its caller is not looked up twice. */
  readonly admission?: Admission | undefined;
}

/** Where a streaming method pushes its answer. Nothing on this path awaits per message. */
export interface Sink<Message> {
  /** The headers of the answer. At most once, before the first message. */
  head(metadata: CallMetadata): void;
  /** One message. Returns false where the receiver is behind: push no more until `onDrain`'s callback runs. */
  data(message: Message): boolean;
  /** Registers the one callback that runs each time the receiver caught up after `data` returned false. */
  onDrain(callback: () => void): void;
}

/**
 * The sink of one call's work. Whoever answers the call from elsewhere than its handler changes it, and puts no sink of
 * its own before it: each message passes every sink in its way.
 */
export interface CallSink<Message> extends Sink<Message> {
  /** True once the head went out. */
  readonly begun: boolean;
  /** The head will say this too. */
  addHead(more: CallMetadata): void;
  /** From now on everything goes there. Only before the head. */
  redirect(to: Sink<Message>): void;
}

/** A unary answer with its headers. */
export interface Reply<Message> {
  readonly message: Message;
  readonly head: CallMetadata;
}

/** The typed way to the services. Its methods reject with a GatewayError and nothing else. */
export interface Channel {
  /**
   * Lets a caller in, by the headers of its request alone and before its body is read: at once where the key is known.
   * Throws or rejects with what a call would be refused with.
   */
  admit(entry: Entry, metadata: CallMetadata): Admission | Promise<Admission>;
  /** In whose queue a request waits, by its headers, while more come than can be worked off. Each account has one. */
  queueOf(metadata: CallMetadata): string;
  unary<Request, Response>(
    method: Method<Request, Response>,
    request: Request,
    options: CallOptions,
  ): Promise<Reply<Response>>;
  /** Resolves when the stream ended well. A rejection after the first message means that the answer is cut. */
  stream<Request, Response>(
    method: Method<Request, Response>,
    request: Request,
    options: CallOptions,
    sink: Sink<Response>,
  ): Promise<void>;
  close(): Promise<void>;
}
