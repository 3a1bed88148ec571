/** A credential that ends, such as a token: it is renewed before its end, while requests still use the old one. */
import { CredentialFailure } from "./upstream.js";

/** What a source issues. */
export interface Issued<Value> {
  readonly value: Value;
  /** For how long it holds, in milliseconds. Infinity: it has no end. */
  readonly lifeMs: number;
  /** After how many milliseconds the source wants it renewed. Absent: the usual time before its end. */
  readonly renewAfterMs?: number | undefined;
}

/** A credential is renewed so long before its end, or a tenth of its life, whichever is less. */
const EARLY_MS_MAX = 300_000;
const EARLY_SHARE = 0.1;
/** Nodes that started together do not renew together: up to this share of that time is added. */
const JITTER_SHARE = 0.5;
/** After a failure beside a credential that still holds, the source is left alone for so long. */
const FAILED_PAUSE_MS = 5_000;
/** An upstream that refuses every credential makes us ask the source no more often than this. */
const FORCED_PAUSE_MS = 30_000;

export interface RenewedCredentialOptions<Value> {
  /** Asks the source. Rejects with a CredentialFailure. */
  issue(): Promise<Issued<Value>>;
  /** The clock of a credential's life, which no setting of the time changes. */
  monotonicMs(): number;
  /** From 0 to 1. */
  random(): number;
}

/** A source that does not answer must not keep the next attempt from being made. */
const ISSUE_MS_MAX = 30_000;

export class RenewedCredential<Value> {
  #current: Value | undefined;
  #endMs = -Infinity;
  #renewMs = -Infinity;
  #forcedMs = -Infinity;
  /** The request to the source that runs: at most one does. */
  #renewal: Promise<Value> | undefined;

  constructor(private readonly options: RenewedCredentialOptions<Value>) {}

  /** The credential; at once while one holds. Rejects where none holds and the source fails. */
  value(): Value | Promise<Value> {
    const nowMs = this.options.monotonicMs();
    const held = nowMs < this.#endMs ? this.#current : undefined;
    if (held === undefined) return this.#renew();
    // The next request tries again after a failure: this one has a credential.
    if (nowMs >= this.#renewMs) this.#renew().catch(() => undefined);
    return held;
  }

  /**
   * Called where the upstream refuses a credential. True where there is another one to try, once; false where the
   * source was asked because of a refusal shortly before, or fails.
   */
  async replace(refused: Value): Promise<boolean> {
    if (this.#current !== refused) return true;
    const nowMs = this.options.monotonicMs();
    if (this.#renewal === undefined) {
      if (nowMs - this.#forcedMs < FORCED_PAUSE_MS) return false;
      this.#forcedMs = nowMs;
    }
    return this.#renew().then(
      () => true,
      () => false,
    );
  }

  #renew(): Promise<Value> {
    this.#renewal ??= this.#issue().finally(() => {
      this.#renewal = undefined;
    });
    return this.#renewal;
  }

  async #issue(): Promise<Value> {
    const { issue, monotonicMs, random } = this.options;
    try {
      const { value, lifeMs, renewAfterMs } = await withinTime(issue());
      const nowMs = monotonicMs();
      const earlyMs = Math.min(EARLY_MS_MAX, lifeMs * EARLY_SHARE) * (1 + JITTER_SHARE * random());
      this.#endMs = nowMs + lifeMs;
      this.#renewMs = nowMs + Math.min(lifeMs - earlyMs, renewAfterMs ?? Infinity);
      this.#current = value;
      return value;
    } catch (error) {
      this.#renewMs = monotonicMs() + FAILED_PAUSE_MS;
      throw error;
    }
  }
}

/** A source that failed, by its name, such as `Google`. Its error may quote a secret, so that only its code is kept. */
export function sourceFailure(source: string, problem: string): CredentialFailure {
  return new CredentialFailure(`${source} issued no credential: ${problem}`);
}

async function withinTime<Value>(issued: Promise<Value>): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(sourceFailure("The source", "it did not answer in time")), ISSUE_MS_MAX).unref();
  });
  try {
    return await Promise.race([issued, late]);
  } finally {
    clearTimeout(timer);
  }
}
