/** What a meter needs of the request whose answer it sees, and what it reports of that answer. */
import type { CallMetadata, Sink } from "../api/channel.js";
import type { Embedding, StreamGenerateResponse, Usage, UsageSource } from "../api/index.js";
import type { ModelKind } from "../families/family.js";
import type { Hold } from "../ledger/ledger.js";
import type { Plan } from "../pricing/hold-plan.js";
import type { RequestRecord } from "../records/request-record.js";
import type { ParsedRequest } from "./generate.js";
import type { ServedModel } from "../routing/model.js";
import type { Routing } from "../routing/routing.js";
import type { WireRequest } from "../wire/wire.js";

/** A batch on its way to the caller. */
export interface AnswerBatch extends StreamGenerateResponse {
  /** The embeddings of an answer that consists of nothing else. */
  readonly embeddings?: readonly Embedding[] | undefined;
}

/** What a meter needs of one model's turn at the request. */
export interface MeteredTurn {
  readonly request: WireRequest;
  readonly model: ServedModel;
  readonly plan: Plan;
  readonly hold: Hold;
  /** The output limit that is sent upstream and covered by the hold, for all candidates; undefined without one. */
  readonly outputTokensMax: number | undefined;
  /** Headers of the answer that are known before the answer. */
  readonly head: CallMetadata;
  /** The kind of the request. */
  readonly kind: ModelKind;
}

/** What a meter needs of the caller, whichever model answers. */
export interface MeterOptions {
  readonly sink: Sink<AnswerBatch>;
  readonly stream: boolean;
  /** The wire whose bytes the caller takes; empty if it takes events. */
  readonly acceptWire: string;
  readonly startMs: number;
  /** When the answer was created, for an upstream that does not report it. */
  readonly createTime: Date;
  /** The request's account: counting takes turns by account. */
  readonly accountId: string;
  /** The request as its client sent it. */
  readonly parsed: ParsedRequest;
  /** Its trace and its content recorder, if it has them. Undefined: no records are kept. */
  readonly record: RequestRecord | undefined;
  /** Finds the other model that an answer names. */
  readonly routing: Pick<Routing, "answeredAs">;
}

/** Tokens that an upstream read and wrote, and that no account is charged for. */
export interface Uncharged {
  readonly upstream: string;
  readonly tokens: number;
}

/** What an answer used and costs, and the source of that. */
export interface Outcome {
  readonly usage: Usage;
  readonly usageSource: UsageSource;
  readonly costNanos: bigint;
  /** What the operator pays for it; undefined if unknown. */
  readonly operatorCostNanos: bigint | undefined;
  /** The input of a request whose client disconnected before any output, if no account is charged for it. */
  readonly unbilled?: Usage | undefined;
  /** The usage of this answer if it is free, and of the attempts before it. The operator pays it. */
  readonly uncharged: readonly Uncharged[];
}
