/** What every wire format can do, in both directions. A wire is pure: bytes and messages in, bytes and messages out. */
import type { ModelKind } from "../api/model-kinds.js";
import type { SlicedText } from "../base/bytes/sliced-text.js";
import type { Answer, Embedding, EmbedResponse, Event, Price, Prompt, ToolUse, Usage } from "../api/index.js";
import type { GatewayError } from "../base/errors.js";
import type { UnwrittenAnswer } from "./answer/long-answer.js";
import type { StreamEncoder } from "./events/writer.js";
import type { RefusalRow } from "./error/upstream-refusal.js";
import type { Held } from "./request/held-objects.js";
import type { RequestFacts } from "./request/request-facts.js";
import type { HostedTool } from "./request/hosted-tools.js";
import type { Member } from "./json/splice.js";
import type { MemberTable } from "./request/members.js";
import type { ModelFacts } from "./request/model-facts.js";
import type { OwnedFields } from "./request/owned-fields.js";

export { StreamEncoder } from "./events/writer.js";
export type { AnswerOrder, GatheredAnswer, LongAnswers, ReadAnswer, UnwrittenAnswer } from "./answer/long-answer.js";
export { isLongAnswer, isLongBody } from "./json/weight.js";
export type { ModelFacts } from "./request/model-facts.js";
export type { OwnedFields } from "./request/owned-fields.js";
export type { RequestFacts } from "./request/request-facts.js";
export type { RoutePreferences, SortKey } from "./request/route-preferences.js";

/** A client's own body, in its own wire. */
export interface SourceBody {
  readonly wire: string;
  readonly body: Buffer;
  /** Headers that belong to the wire, by lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
}

/** What to write of a long body, for a target that is described by what can cross to another thread. */
export interface BodyOrder {
  readonly family: string;
  /** What the model is asked for; its family may have an address of its own for that. */
  readonly kind: ModelKind;
  /** The model as its upstream names it. */
  readonly model: string;
  readonly facts: ModelFacts;
  /** Absent where the upstream is only asked to count. */
  readonly owned: OwnedFields | undefined;
  readonly strict: boolean;
  readonly terms: MemberTerms;
}

/** What a target lets requests ask. */
export interface MemberTerms {
  /** Of the model: what has a price may be asked. */
  readonly price: Price;
  /** True where members that no table knows, or addresses that the upstream would fetch, are refused. */
  readonly knownMembersOnly: boolean;
  readonly refusesAddresses?: boolean | undefined;
  /** What becomes of tools that the upstream would run, and that it lacks or that have no price. Absent: refuse. */
  readonly hostedTools?: "refuse" | "drop" | undefined;
  /** Containers that the request may name. */
  readonly containers: readonly string[];
}

/** What of a request is read as text, and how much of it is no text. */
export interface LongText {
  readonly messages: number;
  readonly text: SlicedText;
  /** Tokens that came as such. */
  readonly tokens: number;
}

/** A body that a thread beside the event loop reads, since it is too long for the loop. */
export interface LongBody {
  /** A digest of how the conversation begins, as of `openingOf`; empty if the body holds none. */
  readonly opening: string;
  /** The body for a target, or a refusal. `dropped` takes what had no place, and `unknown` what no table knows. */
  write(order: BodyOrder, dropped: string[], unknown?: string[]): Promise<Buffer>;
  /** Undefined where the typed form cannot hold the request. */
  text(): Promise<LongText | undefined>;
}

/** Reads long bodies. */
export interface LongBodies {
  /** Rejects as `readRequest` throws, or with OVERLOADED. The accounts take turns. */
  read(source: SourceBody, purpose: "generate" | "count", account: string): Promise<WireRequest>;
  close(): Promise<void>;
}

/** A request on its way through the pipeline. */
export interface WireRequest {
  readonly facts: RequestFacts;
  /** Absent where a service asked in the typed form. */
  readonly source: SourceBody | undefined;
  /** All top-level members of the source, as the pass over it found them. */
  readonly members?: readonly Member[];
  /** Tools that the upstream would run, where the request came in a wire that has such. */
  readonly hosted?: readonly HostedTool[];
  /** Names of tools that were left out of it. Absent: none. */
  readonly leftOut?: readonly string[] | undefined;
  /** The first thing in it that names what an upstream keeps, and so may go to none. */
  readonly held?: Held | undefined;
  /** True of the typed form where it is text, and calls with what came of them: it can ask for nothing more. */
  readonly isPlain?: boolean | undefined;
  /** The typed form; built at most once, and only where something needs it. Throws PARAMETER_* where it cannot be. */
  prompt(): Prompt;
  /** The typed form with what only its own wire has. Absent where `prompt` has all of it. */
  ownPrompt?(): Prompt;
  /**
   * Called before it goes to an upstream of another wire. Throws PARAMETER_UNSUPPORTED where it asks for what only its
   * own wire can say, and what would change the meaning of the answer. `dropped` takes the names of what only its own
   * wire has and no other wire will see.
   */
  checkForeign?(model: string, dropped?: string[]): void;
  /**
   * The request read anew without these of its tools, which `leftOut` then names; what chooses one of them is set
   * right. Absent where it can have none.
   */
  without?(tools: readonly HostedTool[]): WireRequest;
  /** Present where the body is long. The typed form then holds its tools and settings, and not what was said. */
  readonly long?: LongBody | undefined;
  /** Of a long request, what an answer is read by in its stead. */
  readonly outline?: WireRequest | undefined;
  /** The ids of the conversation's calls, where the typed form lacks what was said. */
  readonly callIds?: readonly string[] | undefined;
  /** What the model reads of a request of a surface. Such a request has no prompt. */
  readText?(): SurfaceText;
  /** Where vectors are asked for: what of. Such a request has no prompt. */
  readonly embedding?: EmbeddingQuestion | undefined;
}

/** What a model reads where it generates nothing. */
export interface SurfaceText {
  readonly texts: readonly string[];
  /** About how many tokens it reads again, as a query beside each document. */
  readonly repeatedTokens: number;
}

/** What is to be turned into vectors. */
export interface EmbeddingQuestion {
  /** How the client wants each vector written. */
  readonly encoding: "float" | "base64";
  /** The length of the vectors; undefined leaves it to the model. */
  readonly dimensions: number | undefined;
  /** Each a text, or the tokens of one. Built at most once, and only where something needs it. */
  inputs(): readonly (string | readonly number[])[];
  /** What its upstream may read beside them. Absent: nothing. */
  beside?(): readonly string[];
}

/** What one read of the upstream held. */
export interface Batch {
  /** The typed steps; empty where the caller takes the wire's own bytes. */
  readonly events: Event[];
  /** Whole events of the wire, to be forwarded as they are; empty where the caller takes events. */
  readonly source: Buffer;
  /** True where it holds output of the model, or its end: pings, and openings that only say who speaks, are none. */
  readonly visible: boolean;
  /** An error that the upstream told in the stream. Nothing after it counts. */
  readonly error: GatewayError | undefined;
  /** The vectors of an answer that is nothing else; absent where the source stands for them. */
  readonly embeddings?: readonly Embedding[] | undefined;
  /** The answer, where it is written for its client once it is settled; absent where the rest of the batch holds it. */
  readonly long?: UnwrittenAnswer | undefined;
}

/**
 * What the batches of an answer carry: typed steps, the wire's own bytes as they came, or these bytes, and what of them
 * is not as clients of the wire are promised written anew.
 */
export type AnswerForm = "events" | "source" | "fitted";

/** Reads one answer of an upstream, streamed. Bytes may be cut anywhere. */
export interface StreamDecoder {
  /** Takes one read. Throws UPSTREAM_FAILED where the bytes are no stream of this wire. */
  push(chunk: Buffer): Batch;
  /** The upstream closed. What was still held back comes out. */
  end(): Batch;
  /** True once the upstream said that nothing follows: whatever comes yet counts no more. */
  readonly isDone: boolean;
  /**
   * Ends an answer here that went past its limit, as the wire ends one that reached it. `outputTokens` is the limit,
   * for a wire that tells a count with its end.
   */
  cut(outputTokens: number): Batch;
  /** What is known of the answer so far. */
  readonly report: AnswerReport;
}

/**
 * How far an answer came. `begun`: the upstream generates, though nothing of it may be seen, as while it thinks in
 * secret. `content`: something was delivered, of whatever kind: text, a call, a picture, a thought that is sealed.
 */
export type OutputProgress = "nothing" | "begun" | "content";

/** What is known of an answer, for the meter. It grows while the answer comes. */
export interface AnswerReport {
  readonly made: OutputProgress;
  /** The last usage that the upstream told, in normal form. */
  readonly usage: Usage | undefined;
  /** True where that usage holds what can be no count. */
  readonly usageBroken?: boolean;
  /** True where that usage was told before the text, and what was generated is still to be told. */
  readonly usageEarly?: boolean;
  /** True once the upstream said that the answer is whole. */
  readonly complete: boolean;
  /** Everything generated that reached us: text, thinking, refusals, tool names and arguments, of all candidates. */
  readonly text: string;
  /** The same while it grows, and of which `text` is what was not dropped; absent of an answer that is read whole. */
  readonly grown?: GrownText | undefined;
  /** How many characters of it are thoughts: of what is a summary no upstream bills the tokens. Absent: none. */
  readonly thoughtLength?: number;
  /** Estimates of tokens that came: of what is no text, of sounds, and of what no table knows. Absent: none. */
  readonly nonTextTokens?: number;
  readonly audioTokens?: number;
  readonly unknownTokens?: number;
  /** The model that answered, as the upstream names it. Absent or empty: it did not tell. */
  readonly servedModel?: string | undefined;
  /** The service tier that answered, as the upstream names it. Absent or empty: it did not tell. */
  readonly serviceTier?: string | undefined;
  /** The container that its tools ran in. Absent or empty: it told none. */
  readonly containerId?: string | undefined;
  /** Calls of tools that the upstream ran. Absent: the answer cannot tell. */
  readonly toolUses?: readonly ToolUse[] | undefined;
  /** How many rounds the usage can be the sum of, behind calls that the upstream ran; each, if told. Absent: one. */
  readonly rounds?: { readonly countMax: number; readonly usages?: readonly Usage[] | undefined } | undefined;
  /** The wire's own bytes that end the answer, held back until it is settled; absent where `streamEnd` ends it. */
  ending?: Buffer | undefined;
}

/** A text that still grows, as who follows it sees it. */
export interface GrownText {
  readonly length: number;
  /** How much of it is in memory; `keptBytes` in UTF-8. */
  readonly keptLength: number;
  readonly keptBytes: number;
  /** What stands from a place on, which was not dropped. */
  from(place: number): string;
  /** Forgets what stands before this place, since it was counted. */
  drop(place: number): void;
}

/** A whole answer, read. */
export interface DecodedAnswer {
  readonly report: AnswerReport;
  /** The answer as the events that would have made it, without a finish. Built when asked for. */
  events(): Event[];
  /** The vectors, where they were asked for. Built when asked for. */
  embeddings?(): readonly Embedding[];
  /** The wire's own body as the client asked for it; absent where that is the body as it came. */
  readonly source?: Buffer | undefined;
}

/** An error as a client of the wire expects it. */
export interface WireError {
  readonly status: number;
  readonly body: Buffer;
}

/** How an upstream of a wire differs from the wire's own, as data. Each wire declares its own shape. */
export type Dialect = Readonly<Record<string, unknown>>;

/** The half of a wire that a client speaks. */
export interface ClientWire {
  /** Such as openai-chat. */
  readonly name: string;
  /**
   * Reads a client's body in one bounded pass. Throws BODY_INVALID, PARAMETER_INVALID or PARAMETER_MISSING. A body that
   * is only counted may lack what only an answer needs.
   */
  readRequest(source: SourceBody, purpose?: "generate" | "count"): WireRequest;
  /**
   * Reads a tool of this wire that came beside a body: what of it the upstream would run. Throws PARAMETER_INVALID for
   * what may not pass. Absent where the wire has no tools.
   */
  readTool?(json: string, param: string): readonly HostedTool[];
  /** Writes a streamed answer for a client. `asked` is its request, where the answer repeats what it asked. */
  encodeStream(request: RequestFacts, asked?: WireRequest): StreamEncoder;
  /** Writes a whole answer for a client. `asked` reads its request, where the answer repeats what it asked. */
  encodeAnswer(answer: Answer, asked?: () => WireRequest): Buffer;
  /** Our refusal in the client's envelope. */
  encodeError(error: GatewayError): WireError;
  /** The bytes that keep an idle stream alive. */
  readonly heartbeat: Buffer;
  /** The bytes that end a stream well where the upstream's own did not. */
  readonly streamEnd: Buffer;
}

/** The half of a wire that an upstream speaks. */
export interface UpstreamWire {
  readonly name: string;
  /** Facts of a model that it has a use for and most wires have none. Absent: none. */
  readonly ownFacts?: readonly (keyof ModelFacts)[] | undefined;
  /** False of what facts may say of thoughts and a body of this wire cannot obey. Absent: it obeys all. */
  obeys?(fact: "thinking" | "efforts", value: string, dialect: Dialect): boolean;
  /** True where a body can mark what of its prompt is to be cached. Absent: false. */
  readonly takesCacheMarks?: boolean;
  /** What the gateway does with each member of a body; a family may say more. */
  readonly members: MemberTable;
  /**
   * The body for an upstream: the client's own where it came in this wire, else written from the typed form. `dropped`
   * takes the names of parameters that have no place on the wire and change no meaning.
   */
  encodeRequest(request: WireRequest, owned: OwnedFields, dialect: Dialect, dropped?: string[]): Buffer;
  /** Reads a body that was written from the typed form, as those of its clients. Absent where the wire has none. */
  readWritten?(body: Buffer): WireRequest;
  /**
   * Reads a streamed answer. `form` says what the batches carry. `request` tells what the client asked to see, and
   * `asked` is what `encodeRequest` wrote the request from, where an answer must be told in the client's own terms.
   */
  decodeStream(request: RequestFacts, form: AnswerForm, asked?: WireRequest): StreamDecoder;
  /** Reads a whole answer. Throws UPSTREAM_FAILED where it is none. */
  decodeAnswer(body: Buffer, asked?: WireRequest, form?: AnswerForm): DecodedAnswer;
  /**
   * What an upstream's error answer means for our client. Never tells the upstream's key, address or HTML. `rows` are
   * what the upstream's family adds to the wire's own codes; they count first.
   */
  decodeError(
    status: number,
    headers: Readonly<Record<string, string>>,
    body: Buffer,
    rows?: readonly RefusalRow[],
  ): GatewayError;
}

/** One wire format, both directions. decode(encode(x)) = x on what it models; on its own wire nothing is lost. */
export interface Wire extends ClientWire, UpstreamWire {
  readonly name: string;
}

/**
 * What one address of an upstream may speak: what never streams needs no reader of streams, and refusals are those of
 * the family's main wire unless it reads its own.
 */
export type EndpointWire = Pick<UpstreamWire, "name" | "members" | "encodeRequest" | "decodeAnswer"> &
  Partial<Pick<UpstreamWire, "decodeStream" | "decodeError" | "readWritten" | "takesCacheMarks">> & {
    /** True where answers name no model, and may be no text at all. Absent: they name it. */
    readonly namesNoModel?: boolean;
  };

/** What a client asks vectors in. */
export interface EmbeddingWire {
  readonly name: string;
  /** As of any wire; the request carries an `embedding`. */
  readRequest(source: SourceBody): WireRequest;
  /** Writes the vectors for the client who asked. */
  encodeAnswer(answer: EmbedResponse, asked: WireRequest): Buffer;
}

/** What is asked without a conversation, beside vectors. */
export type SurfaceKind = Extract<ModelKind, "rerank" | "moderation" | "speech">;

/** One such question: a folder with its request and its answer, and a line in `surfaces.ts`. */
export interface SurfaceWire extends EndpointWire {
  readonly kind: SurfaceKind;
  /** Where its clients ask, as paths of the front end. */
  readonly paths: readonly string[];
  /** As of any wire; the request's facts carry the surface. */
  readRequest(source: SourceBody): WireRequest;
  /** The content type of the answer to a body that was read. Absent: it is JSON. */
  answerTypeOf?(source: SourceBody): string;
  /** The event that says why a stream ends early; undefined where its client reads no events. */
  failureEvent?(source: SourceBody, error: GatewayError): Buffer | undefined;
}
