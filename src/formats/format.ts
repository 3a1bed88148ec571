/**
 * What a client format is: the routes, headers and ids around a wire. Adding one is a file here and a line in
 * src/serve/listeners.ts.
 */
import type { ListModelsResponse, Model } from "../api/index.js";
import type { GatewayError } from "../base/errors.js";
import type { ClientWire, EmbeddingWire, SourceBody, SurfaceKind, SurfaceWire, WireError } from "../wire/wire.js";

export { SseFramer } from "../wire/events/framer.js";
export { outlined } from "../wire/request/outline.js";
export type {
  ClientWire,
  EmbeddingWire,
  RequestFacts,
  SourceBody,
  StreamEncoder,
  SurfaceKind,
  SurfaceWire,
  WireError,
  WireRequest,
} from "../wire/wire.js";

/** What a format may read of a request besides its body. Header names are lower-case; duplicates are joined. */
export interface FormatRequest {
  /** The path as it was sent, without its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The route's parameters, decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
}

/** One address of a format. */
export interface FormatRoute {
  readonly method: "POST";
  /** A path as Fastify writes it, such as `/v1/chat/completions`. */
  readonly path: string;
  /**
   * What it does: `generate` asks a model, `count` only counts what would be asked, `embed` asks for vectors, and each
   * surface is asked by its name.
   */
  readonly kind: "generate" | "count" | "embed" | SurfaceKind;
}

/** How a format's clients are shown the models. */
export interface FormatModels {
  /** Of the list, beside `/v1/models` which formats share, such as `/v1beta/models`. One model stands under it. */
  readonly paths: readonly string[];
  /** What part of the list is asked. Throws PARAMETER_INVALID. */
  page(request: FormatRequest): { readonly pageSize: number; readonly pageToken: string };
  /** The list, and one model, as JSON. */
  list(answer: ListModelsResponse, request: FormatRequest): object;
  model(model: Model, request: FormatRequest): object;
}

/** How a stream is put that a client does not want as the wire's own events. One for each answer. */
export interface StreamFraming {
  readonly contentType: string;
  /** The bytes that keep an idle stream alive. */
  readonly heartbeat: Buffer;
  /** Takes whole events of the wire, as bytes. */
  push(events: Buffer): Buffer;
  /** What ends a stream that ended well. Without it a stream never looks complete. */
  end(): Buffer;
}

/** What stands in a body for what an earlier answer told: its bytes, from the first to behind the last. */
export interface NamedItem {
  readonly id: string;
  readonly start: number;
  readonly end: number;
}

/** What a format's clients may name of earlier answers rather than tell it again. */
export interface FormatMemory {
  /** A look at all of a body that is not long: false where it names nothing. */
  mayName(body: Buffer): boolean;
  /** What the body names, in its order and each once. */
  namedIn(body: Buffer): readonly NamedItem[];
  /** False where the client says that nothing is to be kept. */
  mayKeep(source: SourceBody): boolean;
  /** What the last bytes of an answer tell, as JSON by its id. */
  toldIn(bytes: Buffer, isStream: boolean): ReadonlyMap<string, Buffer>;
}

/** What a connection's next message may go on from. */
export interface SocketTurn {
  /** The id of the response before. */
  readonly id: string;
  /** All that was said and answered so far. */
  readonly items: Buffer;
}

/** What one message over a WebSocket asks. */
export interface SocketAsked {
  /** The body as it would have come over HTTP. It asks for a stream. */
  readonly body: Buffer;
  /** All that was said so far; undefined where nobody can tell. */
  readonly said: Buffer | undefined;
  /** False where the client only prepares for its next request. */
  readonly generates: boolean;
  /** True where it goes on from the last response of the connection. */
  readonly continuesLast: boolean;
}

/** Follows an answer over a WebSocket. */
export interface SocketTurnReader {
  /** The data of one event of the answer. */
  see(data: Buffer): void;
  /** What the next message may go on from, after all that was said; undefined where the answer did not end well. */
  turn(said: Buffer): SocketTurn | undefined;
}

/** How a format's clients ask over a WebSocket. Each of its messages to them is the data of one event of the wire. */
export interface FormatSocket {
  /** Where the upgrade is asked for. */
  readonly path: string;
  /** Reads a message; undefined where it asks for nothing. Throws BODY_INVALID or PARAMETER_INVALID. */
  read(message: Buffer, turn: SocketTurn | undefined): SocketAsked | undefined;
  /**
   * The event that refuses a message of a kind that is not served, whatever is answered meanwhile; undefined for any
   * other. Throws BODY_INVALID.
   */
  refuseUnserved(message: Buffer): Buffer | undefined;
  follow(): SocketTurnReader;
  /** Our refusal of one message, with what an answer over HTTP would have said in its headers. */
  encodeRefusal(error: GatewayError, headers: Readonly<Record<string, string>>): Buffer;
}

export interface Format {
  /** Such as openai. */
  readonly name: string;
  readonly wire: ClientWire;
  /** What routes of the kind `embed` speak. */
  readonly embeddingWire?: EmbeddingWire;
  /** What routes of surfaces speak. */
  readonly surfaces?: Readonly<Record<SurfaceKind, SurfaceWire>>;
  readonly routes: readonly FormatRoute[];
  readonly models?: FormatModels;
  /**
   * The headers that the wire reads beside the body, and that an upstream of the same wire receives. A format whose
   * path says what other wires write in their body tells it here.
   */
  wireHeaders(request: FormatRequest): Readonly<Record<string, string>>;
  /** True for a client of this format on an address that formats have in common, such as `/v1/models`. */
  recognises(request: FormatRequest): boolean;
  /** Our refusal in the format's envelope. */
  encodeError(error: GatewayError, requestId: string): WireError;
  /** Headers of every answer that the format's clients expect beside `x-request-id`. */
  replyHeaders(requestId: string): Readonly<Record<string, string>>;
  /** Headers that tell the limits in the answer's own headers under the names that the format's clients read. */
  limitHeaders?(headers: Readonly<Record<string, string>>, nowMs: number): Readonly<Record<string, string>>;
  /** The answer of a route of the kind `count`. */
  encodeCount?(inputTokens: number): Buffer;
  /** Present where clients may name what earlier answers told them. */
  readonly memory?: FormatMemory;
  /** Present where clients may ask over a WebSocket as well. */
  readonly socket?: FormatSocket;
  /** How the client wants a stream; undefined for the wire's own events. */
  streamFraming?(request: FormatRequest): StreamFraming | undefined;
  /** The key, where the format's clients may send it elsewhere than in `authorization` and `x-api-key`. */
  credential?(request: FormatRequest): string | undefined;
}
