/**
 * Marks up to which Claude's upstreams cache prompts, for requests that have none. Which prompts are worth it, and what
 * came of it. Why: docs/decisions/0472-cache-marks.md.
 */
import { LRUCache } from "lru-cache";
import type { CacheMarker } from "../api/cache-marks.js";
import { Role, type Usage } from "../api/index.js";
import { boundedTo } from "../base/bounded-to.js";
import { endpointFor, type ModelKind } from "../families/family.js";
import { hasCacheMarks, BYTES_PER_TOKEN, type AutoMarks } from "../wire/request/auto-marks.js";
import type { WireRequest } from "../wire/wire.js";
import { type RequestSession, sessionOf } from "./affinity.js";
import type { ServedModel, Target } from "./model.js";

/** Of a model whose own number is not known: the largest that is. */
const CACHED_TOKENS_MIN = 4_096;
const SESSIONS_MAX = 10_000;
/** A session whose writes were never read does not live long enough for the cache, or changes how it begins. */
const UNREAD_WRITES_MAX = 3;

export interface MarkedRequest {
  readonly request: WireRequest;
  readonly kind: ModelKind;
  readonly model: Pick<ServedModel, "id" | "cacheMarksSeconds">;
  readonly accountId: string;
  /** Absent: the request belongs to no session. */
  readonly session: RequestSession | undefined;
}

/** The sessions of this process: how often each wrote to a cache since it last read from one. */
export class CacheMarking {
  readonly #unreadWrites = new LRUCache<string, number>(boundedTo(SESSIONS_MAX));

  /** Undefined where the gateway marks nothing for the model. */
  begin({ request, kind, model, accountId, session }: MarkedRequest): RequestMarks | undefined {
    const { cacheMarksSeconds: ttlSeconds } = model;
    if (ttlSeconds === undefined || kind !== "chat") return undefined;
    if (hasCacheMarks(request)) return new RequestMarks("client", request, undefined);
    const [source, id] = session === undefined ? (["content", ""] as const) : sessionOf(session.attributes(), request);
    const name = id === "" ? undefined : JSON.stringify([accountId, model.id, id]);
    const isUseless = name !== undefined && (this.#unreadWrites.get(name) ?? 0) >= UNREAD_WRITES_MAX;
    if (isUseless || (source === "content" && isOneShot(request))) return new RequestMarks("none", request, undefined);
    return new RequestMarks("none", request, { ttlSeconds, learn: (usage) => this.#learn(name, usage) });
  }

  #learn(name: string | undefined, { cacheReadTokens, cacheWriteTokens, cacheWrite1hTokens }: Usage): void {
    if (name === undefined) return;
    if (cacheReadTokens > 0n) this.#unreadWrites.delete(name);
    else if (cacheWriteTokens + cacheWrite1hTokens > 0n)
      this.#unreadWrites.set(name, (this.#unreadWrites.get(name) ?? 0) + 1);
  }
}

interface Marking {
  readonly ttlSeconds: number;
  readonly learn: (usage: Usage) => void;
}

/** The marks of one request, on its way to targets. */
export class RequestMarks {
  /** Undefined until a target that takes marks is asked. */
  #marker: CacheMarker | undefined;

  constructor(
    private readonly unmarked: "client" | "none",
    private readonly request: WireRequest,
    /** Undefined where the gateway marks nothing. */
    private readonly marking: Marking | undefined,
  ) {}

  /** What the target is to be sent; undefined where it gets no marks of the gateway's. */
  of({ served, facts }: Target): AutoMarks | undefined {
    const { wire } = endpointFor(served.family, this.request, "chat");
    if (wire.takesCacheMarks !== true || facts.cacheMarks !== true) {
      this.#marker = undefined;
      return undefined;
    }
    const tokensMin = facts.cachedTokensMin ?? CACHED_TOKENS_MIN;
    const isLong = this.request.facts.textBytes >= tokensMin * BYTES_PER_TOKEN;
    this.#marker = this.marking !== undefined && isLong ? "auto" : this.unmarked;
    return this.marking === undefined || !isLong ? undefined : { ttlSeconds: this.marking.ttlSeconds, tokensMin };
  }

  /** Who marked what the last target was sent; undefined where it takes no marks. */
  get marker(): CacheMarker | undefined {
    return this.#marker;
  }

  /** The request is over, and used so much. */
  ended(usage: Usage): void {
    if (this.#marker === "auto") this.marking?.learn(usage);
  }
}

/** True where nothing suggests that another request begins alike: no earlier answer, and no tools. */
function isOneShot(request: WireRequest): boolean {
  if ((request.facts.toolCount ?? 0) > 0) return false;
  // The typed form of a long request lacks what was said.
  if (request.long !== undefined) return request.source?.body.includes('"assistant"') !== true;
  return !request.prompt().messages.some(({ role }) => role === Role.ROLE_ASSISTANT);
}
