/** One reason to eject a target: for whom, for how long, and what takes it back. */

/** Why a target is ejected. */
export type EjectionCause = "failing" | "rate_limited" | "credential" | "no_funds" | "access" | "model_unknown";

/** What one attempt brought to light. */
export interface Evidence {
  /** Milliseconds of the routes' monotonic clock. */
  readonly nowMs: number;
  /** What `begin` gave the attempt: what began before a target was ejected says nothing of it since. */
  readonly token: number;
  /** Whose request it was. */
  readonly accountId: string;
  /** The longest that the target may be ejected, in milliseconds. Absent: as the rule says. */
  readonly coolDownMaxMs?: number | undefined;
}

export interface EjectionRule {
  /** How many failures in a row it takes, with no success between them. */
  readonly failuresMin: number;
  /** For how long the first time; each time in a row adds as much. */
  readonly firstMs: number;
  readonly mostMs: number;
  /** True where only a success ends it; false where its time does. */
  readonly needsProof: boolean;
}

/** What changed: ejected, or taken back. */
export interface EjectionChange {
  readonly cause: EjectionCause;
  readonly isEjected: boolean;
  /** 0 where it is taken back. */
  readonly durationMs: number;
  /** The account that it is ejected for; undefined where for all. */
  readonly accountId: string | undefined;
  /** The wait that the upstream named, in milliseconds, which may be longer; absent where it named none. */
  readonly namedMs?: number | undefined;
}

/** With more of them it is taken as met by every account. */
const ACCOUNTS_MAX = 256;

/**
 * Counts evidence of one kind against a target. A request is its client's own work, and may have brought its failure
 * about: what one account alone met ejects the target for that account alone, and what a second one meets too ejects
 * it for all.
 */
export class Ejection {
  #cause: EjectionCause = "failing";
  /** 0 where nothing is ejected, or waits for proof. */
  #untilMs = 0;
  #accountId: string | undefined;
  /** When the upstream said to come again, which may be long after it is asked again; 0 where it did not. */
  #namedUntilMs = 0;
  /** The account that its own evidence holds back for longer than another's holds back all. */
  #heldLonger: { readonly accountId: string; readonly untilMs: number } | undefined;
  #times = 0;
  /** The last attempt that had begun when it was ejected. */
  #sinceToken = 0;
  #inRow = 0;
  /** Until when another node's evidence makes one failure enough; 0 where there is none. */
  #suspectUntilMs = 0;
  #firstAccountId = "";
  #isCorroborated = false;
  /** Whose requests met it since it was well. */
  readonly #metBy = new Set<string>();

  constructor(
    private readonly rule: EjectionRule,
    private readonly onChange: (change: EjectionChange) => void,
  ) {}

  get cause(): EjectionCause {
    return this.#cause;
  }

  /** True where it is ejected for anybody, or waits for proof. */
  isEjected(nowMs: number): boolean {
    return this.#untilMs > 0 && (this.rule.needsProof || nowMs < this.#untilMs);
  }

  /** As `isEjected`, for one account. */
  concerns(nowMs: number, accountId: string): boolean {
    if (this.isEjected(nowMs) && (this.#accountId === undefined || this.#accountId === accountId)) return true;
    return nowMs < this.#heldLongerUntilMs(accountId);
  }

  /** True where a request of this account met it since it was well. */
  wasMetBy(accountId: string): boolean {
    return this.#metBy.has(accountId) || this.#metBy.size >= ACCOUNTS_MAX;
  }

  /** What is left of the wait that the upstream named, while it is ejected for this account. */
  namedMs(nowMs: number, accountId: string): number {
    return this.concerns(nowMs, accountId) ? Math.max(0, this.#namedUntilMs - nowMs) : 0;
  }

  /** How long it stays ejected for the account; without one, for anybody. */
  remainingMs(nowMs: number, accountId = ""): number {
    return Math.max(0, Math.max(this.#untilMs, this.#heldLongerUntilMs(accountId)) - nowMs);
  }

  #heldLongerUntilMs(accountId: string): number {
    return this.#heldLonger?.accountId === accountId ? this.#heldLonger.untilMs : 0;
  }

  /**
   * `latestToken` is that of the attempt begun last. `askedMs` is how long the upstream asks to wait. `by` says that
   * the evidence suffices, and for whom. True where it is ejected with this.
   */
  against(
    cause: EjectionCause,
    { nowMs, token, accountId, coolDownMaxMs }: Evidence,
    latestToken: number,
    { askedMs, by }: { readonly askedMs?: number | undefined; readonly by?: { readonly accountId?: string } } = {},
  ): boolean {
    if (this.#metBy.size < ACCOUNTS_MAX) this.#metBy.add(accountId);
    // Of an earlier ejection nothing is left to lengthen.
    const namedUntilMs = nowMs < this.#untilMs ? this.#namedUntilMs : 0;
    if (askedMs !== undefined) this.#namedUntilMs = Math.max(namedUntilMs, nowMs + askedMs);
    const mostMs = Math.min(this.rule.mostMs, coolDownMaxMs ?? Infinity);
    if (nowMs < this.#untilMs) {
      const isOthers = this.#accountId !== undefined && this.#accountId !== accountId;
      if (isOthers) this.#corroborate(nowMs, this.#durationMs(1, askedMs, mostMs), askedMs);
      else if (askedMs !== undefined) this.#lengthen(nowMs, Math.min(askedMs, mostMs), askedMs);
      return false;
    }
    if (this.isStale(token)) return false;
    this.#inRow += 1;
    if (this.#inRow === 1) this.#firstAccountId = accountId;
    else if (accountId !== this.#firstAccountId) this.#isCorroborated = true;
    const isDoubted = (this.rule.needsProof && this.#times > 0) || nowMs < this.#suspectUntilMs;
    if (by === undefined && this.#inRow < (isDoubted ? 1 : this.rule.failuresMin)) return false;
    const scope = by === undefined ? (this.#isCorroborated ? undefined : this.#firstAccountId) : by.accountId;
    this.#times += 1;
    const durationMs = this.#durationMs(this.#times, askedMs, mostMs);
    this.#cause = cause;
    this.#untilMs = nowMs + durationMs;
    this.#accountId = scope;
    this.#sinceToken = latestToken;
    this.#forgetRow();
    if (askedMs === undefined) this.#namedUntilMs = 0;
    this.onChange({ cause, isEjected: true, durationMs, accountId: scope, namedMs: askedMs });
    return true;
  }

  /** Another node met it: ejected here as there, and said to nobody. Where it is already, for all that either is. */
  impose(
    cause: EjectionCause,
    { nowMs, latestToken }: { readonly nowMs: number; readonly latestToken: number },
    durationMs: number,
    accountId: string | undefined,
    namedMs?: number,
  ): void {
    const isEjected = nowMs < this.#untilMs;
    if (namedMs !== undefined) this.#namedUntilMs = nowMs + namedMs;
    // What an upstream said of an earlier time is not told of this one.
    else if (!isEjected) this.#namedUntilMs = 0;
    if (!isEjected) this.#sinceToken = latestToken;
    this.#accountId = !isEjected || this.#accountId === accountId ? accountId : undefined;
    this.#cause = cause;
    this.#untilMs = Math.max(this.#untilMs, nowMs + Math.min(durationMs, this.rule.mostMs));
  }

  /** Another node ejected it. What failed there may lie at that node: here it takes one failure more. */
  suspect(nowMs: number): void {
    this.#suspectUntilMs = nowMs + this.rule.firstMs;
  }

  /** True of what began before it was ejected. */
  isStale(token: number): boolean {
    return token <= this.#sinceToken;
  }

  /** Another account met the same: it is ejected for all, but no longer than by this account's evidence alone. */
  #corroborate(nowMs: number, ownMs: number, askedMs: number | undefined): void {
    if (!this.rule.needsProof && this.#accountId !== undefined)
      this.#heldLonger = { accountId: this.#accountId, untilMs: this.#untilMs };
    this.#accountId = undefined;
    this.#times = 1;
    this.#untilMs = Math.min(this.#untilMs, nowMs + ownMs);
    const durationMs = this.#untilMs - nowMs;
    this.onChange({ cause: this.#cause, isEjected: true, durationMs, accountId: undefined, namedMs: askedMs });
  }

  /** The upstream asks the same accounts for more time. A cool-down never becomes shorter by such an answer. */
  #lengthen(nowMs: number, durationMs: number, askedMs: number): void {
    if (this.rule.needsProof || nowMs + durationMs <= this.#untilMs) return;
    this.#untilMs = nowMs + durationMs;
    this.onChange({ cause: this.#cause, isEjected: true, durationMs, accountId: this.#accountId, namedMs: askedMs });
  }

  /** The target works, at least as far as the first sign of its answer shows. */
  visible(token: number, accountId: string): void {
    if (this.#untilMs === 0 || this.isStale(token)) return;
    // That a rate has room for one account says nothing of another's, whose requests may be larger.
    const isOthers = this.#accountId !== undefined && this.#accountId !== accountId;
    if (isOthers && !this.rule.needsProof) return;
    this.#untilMs = 0;
    this.#metBy.clear();
    this.onChange({ cause: this.#cause, isEjected: false, durationMs: 0, accountId: this.#accountId });
  }

  /** The target answered well. */
  succeed(token: number, accountId: string): void {
    if (this.#inRow === 0 && this.#times === 0 && this.#suspectUntilMs === 0) return;
    if (this.isStale(token)) return;
    this.visible(token, accountId);
    this.#forgetRow();
    if (this.#untilMs === 0) this.#times = 0;
  }

  reset(): void {
    if (this.#untilMs > 0) this.onChange({ cause: this.#cause, isEjected: false, durationMs: 0, accountId: undefined });
    this.#untilMs = 0;
    this.#heldLonger = undefined;
    this.#times = 0;
    this.#metBy.clear();
    this.#forgetRow();
  }

  #durationMs(times: number, askedMs: number | undefined, mostMs: number): number {
    const { firstMs, needsProof } = this.rule;
    return Math.min(needsProof ? firstMs * times : (askedMs ?? firstMs), mostMs);
  }

  #forgetRow(): void {
    this.#suspectUntilMs = 0;
    this.#inRow = 0;
    this.#isCorroborated = false;
  }
}
