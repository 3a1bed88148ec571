/** The limits of a key: requests and tokens in any 60 seconds, and requests at once. */
import assert from "node:assert/strict";
import type { CallMetadata } from "../api/channel.js";
import type { KeySettings } from "../api/index.js";
import type {
  AdmissionLimits,
  AdmissionRequest,
  AdmissionResult,
  Coordination,
  WindowState,
} from "../coordination/coordination.js";
import { GatewayError } from "../errors.js";
import { formatDuration } from "./duration.js";

/** Of a caller, what its limits need. */
export interface LimitedCaller {
  readonly keyId: string;
  readonly settings: KeySettings;
}

/** A request that is inside its key's limits of requests and concurrency; its tokens are reserved once it was read. */
export interface Admission {
  /** The headers `x-ratelimit-{limit,remaining,reset}-{requests,tokens}`, of the limits that are set. */
  readonly head: CallMetadata;
  /**
   * Takes an upper bound of its tokens. Throws or rejects with RATE_LIMITED, and then takes nothing.
   *
   * A bound above the whole limit of tokens reserves just the limit: it is only a bound, so that the request passes
   * once the window is empty, rather than never. What it then uses beyond is taken at the correction, and later
   * requests wait for it.
   */
  reserve(tokens: number): Promise<void> | undefined;
  /**
   * Says how many tokens the request used in all. What was reserved above that is given back; what is missing is taken.
   */
  correct(usedTokens: number): void;
  /** Frees the request's slot. Repeating it changes nothing. */
  release(): void;
}

type Refusal = Extract<AdmissionResult, { admitted: false }>;
type Admitted = Extract<AdmissionResult, { admitted: true }>;

/** The limits of one key: those that need nothing of the request, and its tokens. */
interface LimitHalves {
  readonly entry: AdmissionLimits;
  readonly tokens: AdmissionLimits;
}

const NO_HEAD: CallMetadata = Object.freeze({});
const UNLIMITED: Admission = Object.freeze({
  head: NO_HEAD,
  reserve: () => undefined,
  correct: () => undefined,
  release: () => undefined,
});

interface Fact {
  readonly window: "requests" | "tokens";
  /** In the metadata of a refusal, and as a header. */
  readonly name: string;
  readonly header: string;
  readonly of: (window: WindowState) => string;
}

const FACTS: readonly Fact[] = (["requests", "tokens"] as const).flatMap((window) => {
  const fact = (name: string, of: Fact["of"]): Fact => ({
    window,
    name: `${name}_${window}`,
    header: `x-ratelimit-${name}-${window}`,
    of,
  });
  return [
    fact("limit", ({ limit }) => String(limit)),
    fact("remaining", ({ remaining }) => String(remaining)),
    fact("reset", ({ resetMs }) => formatDuration(resetMs)),
  ];
});

/** Takes requests into the limits of their keys. Keeps nothing itself but each key's limits as numbers. */
export class Limits {
  readonly #coordination: Coordination;
  /** By the settings of a key's revision, so that a change makes new ones. */
  readonly #limits = new WeakMap<KeySettings, LimitHalves>();

  constructor(options: { readonly coordination: Coordination }) {
    this.#coordination = options.coordination;
  }

  /**
   * Takes one request and its slot, both or none, before anything of it is read. Throws or rejects with RATE_LIMITED.
   */
  admit(caller: LimitedCaller, requestId: string): Admission | Promise<Admission> {
    return this.#enter(caller, requestId, "admit");
  }

  /** Throws or rejects exactly where `admit` would, as `reserve` then does, and takes nothing. */
  peek(caller: LimitedCaller, requestId: string): Admission | Promise<Admission> {
    return this.#enter(caller, requestId, "peek");
  }

  /** Throws or rejects where `admit` would, and takes nothing. */
  check({ keyId, settings }: LimitedCaller): Promise<void> | undefined {
    const limits = this.#limitsOf(settings);
    if (limits === undefined) return undefined;
    const result = this.#coordination.peek({ requestId: "", subject: keyId, limits: limits.entry, tokens: 0 });
    if (result instanceof Promise) return result.then((settled) => requireAdmitted(settled, keyId));
    requireAdmitted(result, keyId);
    return undefined;
  }

  #enter({ keyId, settings }: LimitedCaller, requestId: string, way: "admit" | "peek"): Admission | Promise<Admission> {
    const coordination = this.#coordination;
    const limits = this.#limitsOf(settings);
    if (limits === undefined) return UNLIMITED;
    const request: AdmissionRequest = { requestId, subject: keyId, limits: limits.entry, tokens: 0 };
    const entered = (result: AdmissionResult): Admission => {
      if (!result.admitted) throw refusalOf(result, keyId);
      return new LimitedAdmission(coordination, way, request, limits, result);
    };
    const result = coordination[way](request);
    return result instanceof Promise ? result.then(entered) : entered(result);
  }

  /** Undefined where the key has none. */
  #limitsOf(settings: KeySettings): LimitHalves | undefined {
    const { requestsPerMinute, tokensPerMinute, concurrency } = settings;
    if (requestsPerMinute === 0n && tokensPerMinute === 0n && concurrency === 0n) return undefined;
    const known = this.#limits.get(settings);
    if (known !== undefined) return known;
    const limits: LimitHalves = {
      entry: {
        requestsPerMinute: Number(requestsPerMinute),
        tokensPerMinute: 0,
        concurrency: Number(concurrency),
      },
      tokens: { requestsPerMinute: 0, tokensPerMinute: Number(tokensPerMinute), concurrency: 0 },
    };
    this.#limits.set(settings, limits);
    return limits;
  }
}

class LimitedAdmission implements Admission {
  /** Tokens that stand in the window for this request. */
  #counted = 0;
  #reserved: Admitted | undefined;
  #released: boolean;
  #head: CallMetadata | undefined;
  readonly #coordination: Coordination;
  readonly #way: "admit" | "peek";
  readonly #request: AdmissionRequest;
  readonly #limits: LimitHalves;
  readonly #entered: Admitted;

  constructor(
    coordination: Coordination,
    way: "admit" | "peek",
    request: AdmissionRequest,
    limits: LimitHalves,
    entered: Admitted,
  ) {
    this.#coordination = coordination;
    this.#way = way;
    this.#request = request;
    this.#limits = limits;
    this.#entered = entered;
    this.#released = way === "peek" || limits.entry.concurrency === 0;
  }

  get head(): CallMetadata {
    this.#head ??= factsOf({ requests: this.#entered.requests, tokens: this.#reserved?.tokens }, "header");
    return this.#head;
  }

  reserve(tokens: number): Promise<void> | undefined {
    assert(tokens >= 0, "a bound of tokens is a number from 0");
    const limits = this.#limits.tokens;
    if (limits.tokensPerMinute === 0) return undefined;
    const { subject, requestId } = this.#request;
    const request = { requestId, subject, limits, tokens: Math.min(Math.ceil(tokens), limits.tokensPerMinute) };
    const result = this.#coordination[this.#way](request);
    if (result instanceof Promise) return result.then((settled) => this.#reserve(settled, request.tokens));
    this.#reserve(result, request.tokens);
    return undefined;
  }

  #reserve(result: AdmissionResult, tokens: number): void {
    if (!result.admitted) throw refusalOf({ ...result, requests: this.#entered.requests }, this.#request.subject);
    this.#reserved = result;
    this.#counted = tokens;
    this.#head = undefined;
  }

  correct(usedTokens: number): void {
    assert(usedTokens >= 0 && Number.isFinite(usedTokens), "used tokens are a number from 0");
    const used = Math.ceil(usedTokens);
    if (this.#reserved === undefined || this.#way === "peek" || used === this.#counted) return;
    this.#coordination.correct(this.#request.subject, this.#reserved.admittedAtMs, this.#counted, used);
    this.#counted = used;
  }

  release(): void {
    if (this.#released) return;
    this.#released = true;
    this.#coordination.release(this.#request.subject, this.#request.requestId);
  }
}

function requireAdmitted(result: AdmissionResult, keyId: string): void {
  if (!result.admitted) throw refusalOf(result, keyId);
}

/** The headers of a refusal by a limit, from its metadata; none of other errors. */
export function rateLimitHead(error: GatewayError): CallMetadata {
  return error.reason === "ERROR_REASON_RATE_LIMITED" ? headOf(error.metadata) : NO_HEAD;
}

function refusalOf(refusal: Refusal, keyId: string): GatewayError {
  return new GatewayError("ERROR_REASON_RATE_LIMITED", {
    limit: refusal.limit,
    limit_value: String(refusal.limitValue),
    remaining: String(refusal.remaining),
    reset_ms: String(Math.ceil(refusal.retryAfterMs)),
    owner: `key ${keyId}`,
    ...factsOf(refusal),
  });
}

/** How the windows that are limited stand: as metadata such as `remaining_tokens`, or as headers. */
function factsOf(
  result: Pick<AdmissionResult, "requests" | "tokens">,
  key: "name" | "header" = "name",
): Record<string, string> {
  const facts: Record<string, string> = {};
  for (const fact of FACTS) {
    const window = result[fact.window];
    if (window !== undefined) facts[fact[key]] = fact.of(window);
  }
  return facts;
}

function headOf(facts: Readonly<Record<string, string>>): CallMetadata {
  const head: Record<string, string> = {};
  for (const { name, header } of FACTS) {
    const value = facts[name];
    if (value !== undefined) head[header] = value;
  }
  return head;
}
