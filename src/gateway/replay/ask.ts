/** One call as the replays see it: its request, its method, and how its messages become bytes. */
import { createHash } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import {
  type EmbedRequest,
  InferenceServiceService,
  type Source,
  type StreamGenerateRequest,
} from "../../api/index.js";
import type { CallMetadata, Method } from "../../api/channel.js";

/** In the head of a replayed answer: the id of the original request, under which it was charged. */
export const ORIGINAL_HEADER = "x-tollgate-original-request";

/** How much is hashed in one turn of the event loop: one or two milliseconds. */
const HASHED_BYTES = 1024 * 1024;
const NO_BYTES = Buffer.alloc(0);
/** Methods whose request has its source at the top. */
const UNARY: ReadonlySet<string> = new Set([
  InferenceServiceService.embed.path,
  InferenceServiceService.rerank.path,
  InferenceServiceService.moderate.path,
]);
const GENERATING: ReadonlySet<string> = new Set([
  InferenceServiceService.streamGenerate.path,
  InferenceServiceService.generate.path,
]);

export class Ask<Request, Message> {
  #print: Buffer | undefined;
  #printing: Promise<Buffer> | undefined;

  constructor(
    readonly method: Method<Request, Message>,
    readonly request: Request,
    readonly metadata: CallMetadata,
  ) {}

  /** The client's own body, if the request came as one. */
  get source(): Source | undefined {
    // The edge between paths and messages: the path says which message this is.
    const request: unknown = this.request;
    if (UNARY.has(this.method.path)) return (request as EmbedRequest).source;
    if (!GENERATING.has(this.method.path)) return undefined;
    const input = (request as StreamGenerateRequest).generation?.input;
    return input?.$case === "source" ? input.value : undefined;
  }

  /** A hash of the request and its method, of 32 bytes; synchronous unless the body is long. */
  print(): Buffer | Promise<Buffer> {
    const body = this.source?.body ?? NO_BYTES;
    if (this.#print !== undefined) return this.#print;
    if (body.length > HASHED_BYTES) return (this.#printing ??= this.#printLong(body));
    return (this.#print = this.#hash().update(body).digest());
  }

  bytesOf(message: Message): Buffer {
    return this.method.responseSerialize(message);
  }

  messageOf(bytes: Buffer): Message {
    return this.method.responseDeserialize(bytes);
  }

  async #printLong(body: Uint8Array): Promise<Buffer> {
    const hash = this.#hash();
    for (let at = 0; at < body.length; at += HASHED_BYTES) {
      hash.update(body.subarray(at, at + HASHED_BYTES));
      await setImmediate();
    }
    return (this.#print = hash.digest());
  }

  /** The hash of everything except the body, which follows. */
  #hash(): ReturnType<typeof createHash> {
    return createHash("sha256")
      .update(this.method.path)
      .update("\0")
      .update(this.method.requestSerialize(this.#withoutBody()))
      .update("\0");
  }

  #withoutBody(): Request {
    const { source } = this;
    if (source === undefined) return this.request;
    const value = { ...source, body: NO_BYTES };
    const { generation } = this.request as Partial<StreamGenerateRequest>;
    const bare =
      generation === undefined
        ? { source: value }
        : { generation: { ...generation, input: { $case: "source", value } } };
    return { ...this.request, ...bare };
  }
}
