/** Messages as bytes with few copies: on large bodies it is the buffers, not the fields, that cost time. */
import { asBuffer } from "../../base/bytes/bytes.js";
import { BinaryWriter } from "@bufbuild/protobuf/wire";
import type { Method } from "../../api/channel.js";
import {
  GenerateRequest,
  GenerateResponse,
  InferenceServiceService,
  StreamGenerateRequest,
  StreamGenerateResponse,
} from "../../api/index.js";

/** A writer that a longer message made large is let go. */
const KEPT_BYTES_MAX = 2 * 1024 * 1024;

/** One writer for many messages: a new one would grow from nothing each time, each step of it a new buffer. */
export class KeptWriter {
  #writer = new BinaryWriter();

  bytes(encode: (writer: BinaryWriter) => BinaryWriter): Buffer {
    const writer = this.#writer;
    // Where the encoding fails amid a message, what it left must not begin the next one.
    this.#writer = new BinaryWriter();
    const bytes = encode(writer).finish();
    if (bytes.length <= KEPT_BYTES_MAX) this.#writer = writer;
    return asBuffer(bytes);
  }
}

const kept = new KeptWriter();

type Encode = (message: never, writer: BinaryWriter) => BinaryWriter;

/** The messages that carry bodies. */
const REQUESTS: ReadonlyMap<string, Encode> = new Map<string, Encode>([
  [InferenceServiceService.streamGenerate.path, StreamGenerateRequest.encode],
  [InferenceServiceService.generate.path, GenerateRequest.encode],
]);
const RESPONSES: ReadonlyMap<string, Encode> = new Map<string, Encode>([
  [InferenceServiceService.streamGenerate.path, StreamGenerateResponse.encode],
  [InferenceServiceService.generate.path, GenerateResponse.encode],
]);

export function requestBytes<Request>(
  method: Pick<Method<Request, unknown>, "path" | "requestSerialize">,
  request: Request,
): Buffer {
  const encode = REQUESTS.get(method.path);
  // The edge between paths and messages: the method says that this message is its own.
  return encode === undefined
    ? method.requestSerialize(request)
    : kept.bytes((writer) => encode(request as never, writer));
}

export function responseBytes<Response>(
  method: Pick<Method<unknown, Response>, "path" | "responseSerialize">,
  response: Response,
): Buffer {
  const encode = RESPONSES.get(method.path);
  return encode === undefined
    ? method.responseSerialize(response)
    : kept.bytes((writer) => encode(response as never, writer));
}
