/** A channel whose far end is a script, for what the front end does at the network's edge. Messages cross as bytes. */
import type {
  Admission,
  CallMetadata,
  CallOptions,
  Channel,
  Entry,
  Method,
  Reply,
  Sink,
} from "../../src/api/channel.js";
import { GetCallerResponse, StreamGenerateRequest, StreamGenerateResponse } from "../../src/api/index.js";
import { GatewayError } from "../../src/base/errors.js";

export interface ScriptedCall {
  readonly path: string;
  readonly bytes: Buffer;
  readonly metadata: CallMetadata;
}

/** What a streaming script may do. */
export interface ScriptedSink {
  head(metadata: CallMetadata): void;
  data(message: Partial<StreamGenerateResponse>): boolean;
  onDrain(callback: () => void): void;
}

export type UnaryScript = (call: ScriptedCall, options: CallOptions) => Promise<Uint8Array> | Uint8Array;
export type StreamScript = (
  request: StreamGenerateRequest,
  sink: ScriptedSink,
  options: CallOptions,
) => Promise<void> | void;

export class ScriptedChannel implements Channel {
  readonly calls: ScriptedCall[] = [];
  /** The one key that the far end takes. */
  readonly key = "sk-good";
  /** Whose it is told to be. */
  holder = "key";
  /** Scopes that the key lacks. */
  readonly lacks = new Set<string>();
  readonly unaryScripts = new Map<string, UnaryScript>();
  streamScript: StreamScript = () => undefined;
  /** What becomes of a caller that is watched: nothing, until the front end asks no more. */
  watchScript: (options: CallOptions) => Promise<void> = ({ signal }) =>
    new Promise((_resolve, reject) =>
      signal.addEventListener("abort", () => reject(new GatewayError("ERROR_REASON_CANCELLED"))),
    );
  unaryHead: CallMetadata = { "x-request-id": "req_core" };

  /** What the requests said that were to be let in before their bodies were read. */
  readonly admissions: CallMetadata[] = [];

  /** True where the far end has to look for the key. */
  looksUp = false;

  queueOf(metadata: CallMetadata): string {
    return metadata["authorization"] ?? metadata["cookie"] ?? "nobody";
  }

  admit(entry: Entry, metadata: CallMetadata): Admission | Promise<Admission> {
    this.admissions.push(metadata);
    if (this.looksUp)
      return new Promise((resolve) => setImmediate(resolve)).then(() => this.#admitted(entry, metadata));
    return this.#admitted(entry, metadata);
  }

  #admitted({ scope }: Entry, metadata: CallMetadata): Admission {
    this.#checkKey(metadata);
    if (this.lacks.has(scope)) throw new GatewayError("ERROR_REASON_SCOPE_MISSING", { scope, scopes: "none" });
    return { holder: this.holder };
  }

  async unary<Request, Response>(
    method: Method<Request, Response>,
    request: Request,
    options: CallOptions,
  ): Promise<Reply<Response>> {
    const call = this.#record(method, request, options);
    if (method.path.endsWith("/GetCaller") && !this.unaryScripts.has(method.path)) {
      const bytes = GetCallerResponse.encode({ key: undefined }).finish();
      return { message: method.responseDeserialize(Buffer.from(bytes)), head: this.unaryHead };
    }
    const script = this.unaryScripts.get(method.path);
    if (script === undefined) throw new Error(`no script for ${method.path}`);
    const bytes = await script(call, options);
    return { message: method.responseDeserialize(Buffer.from(bytes)), head: this.unaryHead };
  }

  async stream<Request, Response>(
    method: Method<Request, Response>,
    request: Request,
    options: CallOptions,
    sink: Sink<Response>,
  ): Promise<void> {
    const { bytes } = this.#record(method, request, options);
    if (method.path.endsWith("/WatchCaller")) return this.watchScript(options);
    const edge: ScriptedSink = {
      head: (metadata) => sink.head(metadata),
      data: (message) => {
        const whole = { events: [], source: Buffer.alloc(0), ...message };
        return sink.data(method.responseDeserialize(Buffer.from(StreamGenerateResponse.encode(whole).finish())));
      },
      onDrain: (callback) => sink.onDrain(callback),
    };
    await this.streamScript(StreamGenerateRequest.decode(bytes), edge, options);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  /** The paths that were called, shortened to the method. */
  get called(): readonly string[] {
    return this.calls.map((call) => call.path.split("/")[2] ?? "");
  }

  #record<Request, Response>(method: Method<Request, Response>, request: Request, options: CallOptions): ScriptedCall {
    const call = { path: method.path, bytes: method.requestSerialize(request), metadata: options.metadata };
    this.calls.push(call);
    this.#checkKey(options.metadata);
    return call;
  }

  #checkKey(metadata: CallMetadata): void {
    const given = metadata["authorization"]?.replace("Bearer ", "") ?? metadata["x-api-key"];
    if (given === undefined) throw new GatewayError("ERROR_REASON_KEY_MISSING");
    if (given !== this.key)
      throw new GatewayError("ERROR_REASON_KEY_INVALID", { key: "sk-...", request_id: "req_401" });
  }
}
