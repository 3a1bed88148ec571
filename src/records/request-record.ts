/** What is known of one request when it is over, whichever way it ended, and who hears of it. */
import type { Affinity } from "../api/affinity.js";
import type { AppliedParameters } from "../api/applied-parameters.js";
import type { CacheMarker } from "../api/cache-marks.js";
import type { CallMetadata } from "../api/channel.js";
import type { ContentSettings, Usage, UsageSource } from "../api/index.js";
import type { GatewayError } from "../base/errors.js";
import type { RequestTrace } from "../observe/tracing.js";
import { type Attributes, type AskedBody, attributesOf, isNameless } from "./attributes.js";
import { type AskedContent, ContentTap } from "./content-tap.js";

/** Who asked: a caller of `src/keys`, as far as a record needs it. */
export interface Asker {
  readonly accountId: string;
  readonly keyId: string;
}

/** What a request that money was set aside for came to. */
export interface RequestAnswer {
  /** When money was set aside for it, as the ledger says. */
  readonly createTimeMs: number;
  /** The upstream that answered or was tried last, and the model as it was asked for there; empty where none was. */
  readonly upstream: string;
  readonly upstreamModel: string;
  readonly attempts: number;
  /** From the request's arrival to its first attempt. */
  readonly queueMs: number;
  /** From the request's arrival to the first batch for the caller; undefined where none came. */
  readonly firstTokenMs: number | undefined;
  /** The time of all attempts together. */
  readonly upstreamMs: number;
  readonly usage: Usage;
  readonly usageSource: UsageSource;
  readonly costNanos: bigint;
  /** What of the cost the account paid. */
  readonly chargedNanos: bigint;
  /** What the operator pays; undefined where nobody knows. */
  readonly operatorCostNanos: bigint | undefined;
  /** The limit of output that the request was lowered to; undefined where it was not. */
  readonly clampedTo: number | undefined;
  /** What caches of the prompt saved for the account; below 0 where they cost more. */
  readonly cacheSavedNanos: bigint;
}

/** A request that ended. Listeners get it once and read it at once: what it refers to is not kept. */
export interface EndedRequest {
  /** As the header x-request-id told it. */
  readonly id: string;
  /** What people know the call by: the route of HTTP where it came by one, else the method. */
  readonly path: string;
  /** The method that was called, such as /tollgate.v1.InferenceService/Generate; the path where it came to none. */
  readonly method: string;
  /** Undefined where nobody knows who asked. */
  readonly asker: Asker | undefined;
  /** An IP literal; empty where it is not known. */
  readonly address: string;
  readonly endTimeMs: number;
  readonly totalMs: number;
  /** Undefined where it ended well. */
  readonly failure: GatewayError | undefined;
  /** The wire that the client spoke, such as openai-chat, or `typed`; empty where that is not known. */
  readonly format: string;
  /** The model that served it; of a refused request as it was named, and empty where that was not read. */
  readonly model: string;
  /** The name in the request where `model` is another, such as an alias; else empty. */
  readonly askedModel: string;
  /** True where the client wanted the answer as it comes. */
  readonly streamed: boolean;
  /** True where another request's answer came again. */
  readonly replayed: boolean;
  /** Its trace; undefined where there is none. */
  readonly trace: Pick<RequestTrace, "traceId" | "spanId"> | undefined;
  /** Undefined where it was refused before money was set aside, and where an answer came again. */
  readonly answer: RequestAnswer | undefined;
  /** Whether its target was that of its session, and what names the session; undefined where it belongs to none. */
  readonly affinity: Affinity | undefined;
  /** The parameters that settings changed in what was sent upstream; undefined where nothing of it was. */
  readonly parameters: AppliedParameters | undefined;
  /** Who marked the prompt for caches; undefined where its upstream takes no marks, or none was asked. */
  readonly cacheMarks: CacheMarker | undefined;
  /** True where the client asked that nothing is kept that names a person. */
  readonly isNameless: boolean;
  /** What it and its answer say, where its account has that kept. */
  readonly content: Pick<ContentTap, "gathered"> | undefined;
  /** End user, tags and client, as the request names them. Read at the first call. */
  attributes(): Attributes;
}

export type RequestListener = (request: EndedRequest) => void;

export interface FeedOptions {
  /** The time of day. */
  readonly nowMs: () => number;
  readonly onError: (error: unknown) => void;
  /** Begins the trace of a request; absent where nothing is traced, undefined where this one is not. */
  readonly trace?: ((path: string, metadata: CallMetadata) => RequestTrace | undefined) | undefined;
}

/** Tells listeners of requests as they end. A listener must be quick: it runs on the way of the request. */
export class RequestFeed {
  #listeners: readonly RequestListener[] = [];

  constructor(private readonly options: FeedOptions) {}

  /** Returns what ends it. */
  subscribe(listener: RequestListener): () => void {
    this.#listeners = [...this.#listeners, listener];
    return () => {
      this.#listeners = this.#listeners.filter((one) => one !== listener);
    };
  }

  begin(id: string, path: string, metadata: CallMetadata, method = path): RequestRecord {
    const record = new RequestRecord(id, path, method, metadata, this);
    record.trace = this.options.trace?.(method, metadata);
    return record;
  }

  /** Never throws: what listeners do changes nothing of the request. */
  publish(record: RequestRecord): void {
    record.endTimeMs = this.options.nowMs();
    for (const listener of this.#listeners) {
      try {
        listener(record);
      } catch (error) {
        this.options.onError(error);
      }
    }
  }
}

/** A request on its way: each part that learns something of it writes it here. */
export class RequestRecord implements EndedRequest {
  asker: Asker | undefined = undefined;
  address = "";
  format = "";
  model = "";
  askedModel = "";
  streamed = false;
  replayed = false;
  failure: GatewayError | undefined = undefined;
  answer: RequestAnswer | undefined = undefined;
  affinity: Affinity | undefined = undefined;
  parameters: AppliedParameters | undefined = undefined;
  cacheMarks: CacheMarker | undefined = undefined;
  /** What the client sent, where its attributes may stand in it. */
  body: AskedBody | undefined = undefined;
  /** Undefined where nothing is traced. */
  trace: RequestTrace | undefined = undefined;
  content: ContentTap | undefined = undefined;
  endTimeMs = 0;
  totalMs = 0;
  readonly #startMs = performance.now();
  readonly #metadata: CallMetadata;
  readonly #feed: RequestFeed;
  #isTaken = false;
  /** What its call ended with, which ended before the request did. */
  #leftWith: { readonly failure: GatewayError | undefined } | undefined;
  #isOver = false;
  #attributes: Attributes | undefined;

  constructor(
    readonly id: string,
    readonly path: string,
    readonly method: string,
    metadata: CallMetadata,
    feed: RequestFeed,
  ) {
    this.#metadata = metadata;
    this.#feed = feed;
  }

  get isNameless(): boolean {
    return isNameless(this.#metadata);
  }

  /** Gathers from now on what the request and its answer say, unless the client asked that this is not kept. */
  keepContent(settings: ContentSettings, request: AskedContent): void {
    if (!this.isNameless) this.content = new ContentTap(settings, request);
  }

  attributes(): Attributes {
    return (this.#attributes ??= attributesOf(this.#metadata, this.body));
  }

  askedBy(asker: Asker, address: string | undefined): void {
    this.asker = asker;
    if (address !== undefined) this.address = address;
  }

  /** The call ended well. Where the gateway never had the request, another one's answer was given. */
  cameAgain(): void {
    if (this.#isOver || this.#isTaken) return;
    this.replayed = true;
    this.end(undefined);
  }

  /** From now on the gateway says when it is over, which may be after its call. */
  take(): void {
    this.#isTaken = true;
  }

  /** The gateway is done with it, and may not have said how it ended: then its call does. */
  giveBack(): void {
    this.#isTaken = false;
    if (this.#leftWith !== undefined) this.end(this.#leftWith.failure);
  }

  /** The call is over. Where the gateway has the request, that goes on. */
  left(failure: GatewayError | undefined): void {
    if (this.#isTaken) this.#leftWith = { failure };
    else this.end(failure);
  }

  /** The request is over. Only the first end counts. */
  end(failure: GatewayError | undefined): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.failure = failure;
    this.totalMs = performance.now() - this.#startMs;
    this.#feed.publish(this);
    this.trace?.end(failure);
    // A run may outlive its request, and bodies are large.
    this.body = undefined;
    this.content = undefined;
  }
}
