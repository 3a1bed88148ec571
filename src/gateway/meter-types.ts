/** What a meter is told of the request whose answer it sees, and what it tells of that. */
import type { CallMetadata, Sink } from "../api/channel.js";
import type { Embedding, StreamGenerateResponse, Usage, UsageSource } from "../api/index.js";
import type { ModelKind } from "../families/family.js";
import type { Hold } from "../ledger/ledger.js";
import type { Plan } from "../pricing/hold-plan.js";
import type { RequestRecord } from "../records/request-record.js";
import type { ServedModel } from "../routing/model.js";
import type { Routing } from "../routing/routing.js";
import type { WireRequest } from "../wire/wire.js";

/** A batch on its way to the caller. */
export interface AnswerBatch extends StreamGenerateResponse {
  /** The vectors of an answer that is nothing else. */
  readonly embeddings?: readonly Embedding[] | undefined;
}

export interface MeterOptions {
  readonly request: WireRequest;
  readonly model: ServedModel;
  readonly plan: Plan;
  readonly hold: Hold;
  /** The limit of output that is sent upstream and that the hold covers, of all candidates; undefined without one. */
  readonly outputTokensMax: number | undefined;
  readonly sink: Sink<AnswerBatch>;
  readonly stream: boolean;
  /** The wire whose bytes the caller takes; empty where it takes events. */
  readonly acceptWire: string;
  /** Headers of the answer that are known before it. */
  readonly head: CallMetadata;
  readonly startMs: number;
  /** When the answer was made, for an upstream that does not tell. */
  readonly createTime: Date;
  /** Whose request it is: counting takes turns by account. */
  readonly accountId: string;
  /** What it asks of the model. */
  readonly kind: ModelKind;
  /** Its trace, and the tap of its content, where it has them. Undefined: nobody keeps records. */
  readonly record: RequestRecord | undefined;
  /** Finds the other model that an answer names. */
  readonly routing: Pick<Routing, "answeredAs">;
}

/** What an upstream read and wrote by what it told, or was sent, that nobody is charged for. */
export interface Uncharged {
  readonly upstream: string;
  readonly tokens: number;
}

/** What an answer used and costs, and how that is known. */
export interface Outcome {
  readonly usage: Usage;
  readonly usageSource: UsageSource;
  readonly costNanos: bigint;
  /** What the operator pays for it; undefined where nobody knows. */
  readonly operatorCostNanos: bigint | undefined;
  /** What was sent of a request whose client hung up before anything came, where nobody is charged for it. */
  readonly unbilled?: Usage | undefined;
  /** Of this answer where it is free, and of the attempts before it. The operator pays it. */
  readonly uncharged: readonly Uncharged[];
}
