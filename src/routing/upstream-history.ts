/** The latest changes of the health of an upstream, and the latest attempts that failed there. */
import type { EjectionCause, EjectionChange } from "./ejection.js";

/** Of each kind; older ones are dropped. */
const KEPT_MAX = 100;
const MESSAGE_CHARACTERS_MAX = 500;

interface HealthRecord {
  /** Unix time in milliseconds. */
  readonly timeMs: number;
  readonly kind: "ejected" | "restored" | "drained" | "undrained";
  /** Empty: the whole upstream. */
  readonly model: string;
  /** Undefined: it is not about an ejection. */
  readonly cause: EjectionCause | undefined;
  readonly coolingMs: number;
}

interface FailedAttempt {
  readonly requestId: string;
  /** As the upstream names it. */
  readonly model: string;
  /** Such as ERROR_REASON_UPSTREAM_FAILED. */
  readonly reason: string;
  /** 0: no answer came. */
  readonly status: number;
  /** Empty: not known, or the client asked not to record it. */
  readonly message: string;
}

type FailureRecord = FailedAttempt & Pick<HealthRecord, "timeMs">;

export class UpstreamHistory {
  readonly #changes: HealthRecord[] = [];
  readonly #failures: FailureRecord[] = [];

  /** `nowMs` is the time of day. */
  constructor(private readonly nowMs: () => number = () => 0) {}

  /** The newest first. */
  get changes(): readonly HealthRecord[] {
    return this.#changes.toReversed();
  }

  /** The newest first. */
  get failures(): readonly FailureRecord[] {
    return this.#failures.toReversed();
  }

  changed(model: string | undefined, { cause, isEjected, durationMs }: EjectionChange): void {
    this.#note(isEjected ? "ejected" : "restored", model ?? "", cause, durationMs);
  }

  drained(isDrained: boolean): void {
    this.#note(isDrained ? "drained" : "undrained", "", undefined, 0);
  }

  failed(attempt: FailedAttempt): void {
    const message = attempt.message.slice(0, MESSAGE_CHARACTERS_MAX);
    keep(this.#failures, { ...attempt, message, timeMs: this.nowMs() });
  }

  #note(kind: HealthRecord["kind"], model: string, cause: HealthRecord["cause"], coolingMs: number): void {
    keep(this.#changes, { timeMs: this.nowMs(), kind, model, cause, coolingMs });
  }
}

function keep<One>(list: One[], one: One): void {
  list.push(one);
  if (list.length > KEPT_MAX) list.shift();
}
