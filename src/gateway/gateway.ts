/** What the gateway does for an authenticated caller: one method for each way to use a model. */
import type { CancelSignal } from "../api/cancellation.js";
import type {
  CountTokensRequest,
  CountTokensResponse,
  EmbedRequest,
  EmbedResponse,
  EstimateCostRequest,
  EstimateCostResponse,
  GenerateRequest,
  GenerateResponse,
  StreamGenerateRequest,
  StreamGenerateResponse,
} from "../api/index.js";
import type { CallMetadata, Sink } from "../api/channel.js";
import type { Caller } from "../keys/caller.js";
import type { Admission } from "../limits/admission.js";
import type { RequestRecord } from "../records/request-record.js";

/** One call by an authenticated and authorized caller. */
export interface GatewayCall {
  readonly caller: Caller;
  /** Made by the edge that took the call; it names the hold, the log line and the usage. */
  readonly requestId: string;
  /** Aborts when the caller goes away or its deadline passes. */
  readonly signal: CancelSignal;
  /** When its own deadline passes, on the monotonic clock; absent where the caller set none. */
  readonly callerEndMs?: number | undefined;
  /** The admission of a caller who was compared with what nodes share while its message came. */
  readonly compared?: Admission | undefined;
  /** Awaited once the request is admitted and before money is set aside for it. */
  readonly beforeHold?: (() => Promise<void>) | undefined;
  /** Where what is learned of the request is written. Absent: nobody keeps records. */
  readonly record?: RequestRecord | undefined;
}

export interface Gateway {
  /** Pushes the answer as batches. Rejects with a GatewayError; after the first batch that means the answer is cut. */
  streamGenerate(request: StreamGenerateRequest, call: GatewayCall, sink: Sink<StreamGenerateResponse>): Promise<void>;
  /** The fold of the stream. `head` receives the headers of the answer, at most once. */
  generate(
    request: GenerateRequest,
    call: GatewayCall,
    head: (metadata: CallMetadata) => void,
  ): Promise<GenerateResponse>;
  countTokens(request: CountTokensRequest, call: GatewayCall): Promise<CountTokensResponse>;
  embed(request: EmbedRequest, call: GatewayCall, head: (metadata: CallMetadata) => void): Promise<EmbedResponse>;
  estimateCost(request: EstimateCostRequest, call: GatewayCall): Promise<EstimateCostResponse>;
}
