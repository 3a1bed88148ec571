/** Session affinity: requests of one session go to the same target among equals, whose prompt cache knows them. */
import { createHmac } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { Affinity, SessionSource } from "../api/affinity.js";
import { boundedTo } from "../base/bounded-to.js";
import type { ModelKind } from "../families/family.js";
import { openingOf } from "../wire/request/opening.js";
import type { WireRequest } from "../wire/wire.js";
import type { ServedModel, Target } from "./model.js";
import { rendezvous, type Seed, seedOf, targetName } from "./rendezvous.js";

/** What a client says of a session. Empty texts: nothing. */
export interface NamedSession {
  readonly session: string;
  readonly sessionSource: Exclude<SessionSource, "prompt_cache_key" | "content"> | "";
  readonly promptCacheKey: string;
}

/** The session of one request, and what became of it. */
export interface RequestSession {
  /** Called only for a model that has affinity. */
  attributes(): NamedSession;
  /** Set with each attempt; undefined where the request belongs to no session. */
  affinity: Affinity | undefined;
}

/** Whose request it is, and what it asks for. */
export interface SessionOptions {
  readonly kind: ModelKind;
  /** Absent: none is looked for. */
  readonly session?: RequestSession | undefined;
  readonly accountId: string;
}

interface Binding {
  readonly target: string;
  /** How many requests in a row went elsewhere, because the target could not take them. */
  readonly skips: number;
  readonly expireMs: number;
}

const BINDINGS_MAX = 100_000;
/** As long as vendors keep a cached prompt that is not read, with a reserve. */
const IDLE_MS = 15 * 60_000;
/** The same after a request that has something cached for an hour. */
const IDLE_HOUR_MS = 65 * 60_000;
/** The mark for an hour. A quote within a text is escaped, so that these bytes are a value of their own. */
const HOUR_MARK = Buffer.from('"1h"');
/** How much of a body is searched for the mark. */
const SEARCHED_BYTES_MAX = 262_144;
const SKIPS_MAX = 1;

/** The sessions of this process. */
export class SessionAffinity {
  readonly #bindings = new LRUCache<string, Binding>(boundedTo(BINDINGS_MAX));

  /** `root` is a key of 32 bytes, derived from the root secret: the same on every node. */
  constructor(private readonly root: Buffer) {}

  /** The session of a request; undefined where its targets are picked by weight alone. */
  begin(
    request: WireRequest,
    model: Pick<ServedModel, "id" | "hasAffinity" | "cacheMarksSeconds">,
    { kind, session, accountId }: SessionOptions,
  ): SessionRoute | undefined {
    if (model.hasAffinity !== true || session === undefined || kind !== "chat") return undefined;
    const [source, id] = sessionOf(session.attributes(), request);
    if (id === "") return undefined;
    const named = JSON.stringify([accountId, model.id, id]);
    const digest = createHmac("sha256", this.root).update(named).digest();
    const isForAnHour = (model.cacheMarksSeconds ?? 0) * 1_000 > IDLE_MS || hasHourMark(request);
    const idleMs = isForAnHour ? IDLE_HOUR_MS : IDLE_MS;
    const key = { name: digest.toString("base64url"), seed: seedOf(digest), source, idleMs };
    return new SessionRoute(this.#bindings, key, session);
  }
}

interface SessionKey {
  readonly name: string;
  readonly seed: Seed;
  readonly source: SessionSource;
  readonly idleMs: number;
}

/** One request of a session, on its way to a target. */
export class SessionRoute {
  constructor(
    private readonly bindings: LRUCache<string, Binding>,
    private readonly key: SessionKey,
    private readonly session: RequestSession,
  ) {}

  /** The target of the session where it is among these, else the one that every node picks. */
  pick(targets: readonly Target[], nowMs: number): Target | undefined {
    const bound = this.#bound(nowMs)?.target;
    const target = bound === undefined ? undefined : targets.find((one) => targetName(one) === bound);
    return target ?? rendezvous(targets, this.key.seed);
  }

  /** An attempt at the target begins. */
  tries(target: Target, nowMs: number): void {
    const bound = this.#bound(nowMs)?.target;
    const state = bound === undefined ? "new" : bound === targetName(target) ? "kept" : "moved";
    this.session.affinity = { state, source: this.key.source };
  }

  /**
   * The target served the request, after these were tried. The session stays where it was if its target was only
   * skipped once; it moves here after a failure there, or a second skip in a row.
   */
  served(target: Target, tried: readonly Target[], nowMs: number): void {
    const name = targetName(target);
    const bound = this.#bound(nowMs);
    const hasFailed = tried.some((one) => one !== target && targetName(one) === bound?.target);
    const isSkip = bound !== undefined && bound.target !== name && !hasFailed && bound.skips < SKIPS_MAX;
    this.bindings.set(this.key.name, {
      target: isSkip ? bound.target : name,
      skips: isSkip ? bound.skips + 1 : 0,
      expireMs: Math.max(bound?.expireMs ?? 0, nowMs + this.key.idleMs),
    });
  }

  #bound(nowMs: number): Binding | undefined {
    const binding = this.bindings.get(this.key.name);
    return binding !== undefined && binding.expireMs > nowMs ? binding : undefined;
  }
}

/** What names the session, and its name; an empty name where the request belongs to none. */
export function sessionOf(named: NamedSession, request: WireRequest): readonly [SessionSource, string] {
  const { session, sessionSource, promptCacheKey } = named;
  // Of what stands in the body, `metadata` comes last.
  if (sessionSource === "header" || sessionSource === "session_id") return [sessionSource, session];
  if (promptCacheKey !== "") return ["prompt_cache_key", promptCacheKey];
  if (sessionSource === "metadata") return [sessionSource, session];
  const { source, members, long } = request;
  if (long !== undefined) return ["content", long.opening];
  return ["content", source === undefined || members === undefined ? "" : openingOf(source.body, members)];
}

function hasHourMark({ source }: WireRequest): boolean {
  return source !== undefined && source.body.subarray(0, SEARCHED_BYTES_MAX).includes(HOUR_MARK);
}
