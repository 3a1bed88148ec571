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

/** A request that is inside its key's limits. */
export interface Admission {
  /** The headers `x-ratelimit-{limit,remaining,reset}-{requests,tokens}`, of the limits that are set. */
  readonly head: CallMetadata;
  /**
   * Says how many tokens the request used in all. What was reserved above that is given back; what is missing is taken.
   */
  correct(usedTokens: number): void;
  /** Frees the request's slot. Repeating it changes nothing. */
  release(): void;
}

type Refusal = Extract<AdmissionResult, { admitted: false }>;
type Admitted = Extract<AdmissionResult, { admitted: true }>;

const NO_HEAD: CallMetadata = Object.freeze({});
const UNLIMITED: Admission = Object.freeze({ head: NO_HEAD, correct: () => undefined, release: () => undefined });

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
  readonly #limits = new WeakMap<KeySettings, AdmissionLimits>();

  constructor(options: { readonly coordination: Coordination }) {
    this.#coordination = options.coordination;
  }

  /**
   * Takes one request with an upper bound of its tokens, all limits or none. Throws or rejects with RATE_LIMITED.
   *
   * A bound above the whole limit of tokens reserves just the limit: it is only a bound, so that the request passes
   * once the window is empty, rather than never. What it then uses beyond is taken at the correction, and later
   * requests wait for it.
   */
  admit(caller: LimitedCaller, requestId: string, tokens: number): Admission | Promise<Admission> {
    if (isUnlimited(caller)) return UNLIMITED;
    const request = this.#requestOf(caller, requestId, tokens);
    const result = this.#coordination.admit(request);
    return result instanceof Promise
      ? result.then((settled) => this.#admissionOf(settled, request))
      : this.#admissionOf(result, request);
  }

  /** Throws or rejects exactly where `admit` would, and takes nothing. */
  peek(caller: LimitedCaller, requestId: string, tokens: number): Admission | Promise<Admission> {
    if (isUnlimited(caller)) return UNLIMITED;
    const request = this.#requestOf(caller, requestId, tokens);
    const passed = (result: AdmissionResult): Admission => {
      if (!result.admitted) throw refusalOf(result, request.subject);
      return UNLIMITED;
    };
    const result = this.#coordination.peek(request);
    return result instanceof Promise ? result.then(passed) : passed(result);
  }

  #requestOf({ keyId, settings }: LimitedCaller, requestId: string, tokens: number): AdmissionRequest {
    assert(tokens >= 0, "a bound of tokens is a number from 0");
    const limits = this.#limitsOf(settings);
    return { requestId, subject: keyId, limits, tokens: Math.min(Math.ceil(tokens), limits.tokensPerMinute) };
  }

  #limitsOf(settings: KeySettings): AdmissionLimits {
    const known = this.#limits.get(settings);
    if (known !== undefined) return known;
    const limits: AdmissionLimits = {
      requestsPerMinute: Number(settings.requestsPerMinute),
      tokensPerMinute: Number(settings.tokensPerMinute),
      concurrency: Number(settings.concurrency),
    };
    this.#limits.set(settings, limits);
    return limits;
  }

  #admissionOf(result: AdmissionResult, request: AdmissionRequest): Admission {
    if (!result.admitted) throw refusalOf(result, request.subject);
    return new LimitedAdmission(this.#coordination, result, request);
  }
}

function isUnlimited({ settings }: LimitedCaller): boolean {
  return settings.requestsPerMinute === 0n && settings.tokensPerMinute === 0n && settings.concurrency === 0n;
}

class LimitedAdmission implements Admission {
  /** Tokens that stand in the window for this request. */
  #counted: number;
  #released: boolean;
  #head: CallMetadata | undefined;
  readonly #coordination: Coordination;
  readonly #result: Admitted;
  readonly #subject: string;
  readonly #requestId: string;

  constructor(coordination: Coordination, result: Admitted, request: AdmissionRequest) {
    this.#coordination = coordination;
    this.#result = result;
    this.#subject = request.subject;
    this.#requestId = request.requestId;
    this.#counted = request.tokens;
    this.#released = request.limits.concurrency === 0;
    this.#head = undefined;
  }

  get head(): CallMetadata {
    this.#head ??= factsOf(this.#result, "header");
    return this.#head;
  }

  correct(usedTokens: number): void {
    assert(usedTokens >= 0 && Number.isFinite(usedTokens), "used tokens are a number from 0");
    const used = Math.ceil(usedTokens);
    if (this.#result.tokens === undefined || used === this.#counted) return;
    this.#coordination.correct(this.#subject, this.#result.admittedAtMs, this.#counted, used);
    this.#counted = used;
  }

  release(): void {
    if (this.#released) return;
    this.#released = true;
    this.#coordination.release(this.#subject, this.#requestId);
  }
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
function factsOf(result: AdmissionResult, key: "name" | "header" = "name"): Record<string, string> {
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
