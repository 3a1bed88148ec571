/** What the gateway does for an authenticated caller: one method for each way to use a model. */
import type { CancelSignal } from "../base/cancellation.js";
import type {
  CountTokensRequest,
  CountTokensResponse,
  EmbedRequest,
  EmbedResponse,
  EstimateCostRequest,
  EstimateCostResponse,
  ModerateRequest,
  ModerateResponse,
  RerankRequest,
  RerankResponse,
  GenerateRequest,
  GenerateResponse,
  StreamGenerateRequest,
  StreamGenerateResponse,
  StreamSpeechRequest,
  StreamSpeechResponse,
} from "../api/index.js";
import type { CallMetadata, Sink } from "../api/channel.js";
import type { Caller } from "../keys/caller.js";
import type { LimitDecision } from "../limits/limit-decision.js";
import type { RequestRecord } from "../records/request-record.js";

/** One call of an authenticated and authorized caller. */
export interface GatewayCall {
  readonly caller: Caller;
  /** Created by the edge that received the call. It identifies the hold, the log line and the usage. */
  readonly requestId: string;
  /** Aborts when the caller disconnects or its deadline passes. */
  readonly signal: CancelSignal;
  /** When the caller's own deadline passes, on the monotonic clock; absent if the caller set none. */
  readonly callerEndMs?: number | undefined;
  /** The admission of a caller without limits whose cached data was checked while its request arrived. */
  readonly decision?: LimitDecision | undefined;
  /** Awaited after the request is admitted and before money is held for it. */
  readonly beforeHold?: (() => Promise<void>) | undefined;
  /** What else the edge knows of the call, by lower-case name. Absent: nothing. */
  readonly metadata?: CallMetadata | undefined;
  /** The record into which facts of the request are written. Absent: no records are kept. */
  readonly record?: RequestRecord | undefined;
}

export interface Gateway {
  /** Streams the answer as batches. Rejects with a GatewayError; after the first batch that means the answer is cut. */
  streamGenerate(request: StreamGenerateRequest, call: GatewayCall, sink: Sink<StreamGenerateResponse>): Promise<void>;
  /** The complete answer, folded from the stream. `head` receives the headers of the answer, at most once. */
  generate(
    request: GenerateRequest,
    call: GatewayCall,
    head: (metadata: CallMetadata) => void,
  ): Promise<GenerateResponse>;
  countTokens(request: CountTokensRequest, call: GatewayCall): Promise<CountTokensResponse>;
  embed(request: EmbedRequest, call: GatewayCall, head: (metadata: CallMetadata) => void): Promise<EmbedResponse>;
  rerank(request: RerankRequest, call: GatewayCall, head: (metadata: CallMetadata) => void): Promise<RerankResponse>;
  moderate(
    request: ModerateRequest,
    call: GatewayCall,
    head: (metadata: CallMetadata) => void,
  ): Promise<ModerateResponse>;
  /** Streams the sound. Rejects as `streamGenerate` does. */
  streamSpeech(request: StreamSpeechRequest, call: GatewayCall, sink: Sink<StreamSpeechResponse>): Promise<void>;
  estimateCost(request: EstimateCostRequest, call: GatewayCall): Promise<EstimateCostResponse>;
}
