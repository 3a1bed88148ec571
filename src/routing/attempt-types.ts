/** What an attempt is told: what to ask, within which bounds, and who takes the answer; and how it ends. */
import type { ByteLease } from "../base/bytes/byte-budget.js";
import type { CancelSignal } from "../base/cancellation.js";
import { GatewayError } from "../base/errors.js";
import type { Usage } from "../api/index.js";
import type { AnswerForm, AnswerReport, Batch, LongAnswers } from "../wire/wire.js";
import type { Deadline, RequestTimeouts } from "./deadline.js";
import type { UpstreamRequest } from "./upstream-request.js";

/** Takes what the target answers. Each batch comes right from the attempt: nothing stands between the two. */
export interface BatchReceiver {
  /** Takes one batch, which was read at `nowMs`. False: push no more until `onDrain`'s callback runs. */
  take(batch: Batch, nowMs: number): boolean;
  onDrain(callback: () => void): void;
  /** The report that grows with the answer; called before the first batch. */
  watch(report: AnswerReport): void;
  /**
   * Called in place of `take` where the caller left and the answer is read on, or where all of it is gathered first;
   * and now and then while none comes.
   */
  look?(nowMs: number): void;
  /** True once more came than the request's limit of output can be: nothing more is to be relayed. */
  exceeds?(): boolean;
  /** How many tokens may come before that can be so. No answer has more tokens than bytes. */
  roomTokens?(): number;
  /** Called once a stream begins that no other target can take over. */
  underway?(): void;
  /** Called once the target may have read the request. */
  sent?(): void;
  /** The headers of an answer that tell the limits of the operator's account; called where clients may see these. */
  limits?(headers: Readonly<Record<string, string>>): void;
  /** Names of parameters that the target's wire had no place for; called where there are some. */
  dropped?(params: readonly string[]): void;
}

/** Who reads answers that are too long for the event loop, and what those take that are in memory as one. */
export interface LongReading {
  readonly reader: LongAnswers;
  readonly memory: ByteLease;
}

export interface AttemptPlan extends UpstreamRequest {
  /** What the batches carry. */
  readonly form: AnswerForm;
  /** The wire whose bytes the caller takes; empty where it takes events. */
  readonly acceptWire: string;
  /** The name that the answer tells as its model; undefined leaves the upstream's own. */
  readonly toldModel: string | undefined;
  /** Whose request it is. */
  readonly accountId: string;
  /** Absent: all answers are read on the event loop. */
  readonly long?: LongReading | undefined;
  /** True where a stream is to be taken as one batch, once all of it is there. */
  readonly gathers: boolean;
  /** True where no other target is left to ask. */
  readonly isLast: boolean;
  /** True where another target is left that can take the request now. Absent: false. */
  readonly hasOther?: boolean;
  readonly timeouts: RequestTimeouts;
  readonly deadline: Deadline;
  /** Called at the first output. */
  readonly onOutput: () => void;
  /** Aborts when the client left. */
  readonly signal: CancelSignal;
  /** True where an answer that nobody waits for may be read for its usage. Takes a place until `readOnEnded`. */
  readonly mayReadOn: () => boolean;
  readonly readOnEnded: () => void;
}

/** The HTTP status of every answer. */
export const ANSWERED = 200;

/** What went wrong. */
export interface AttemptFailure {
  readonly error: GatewayError;
  /** The HTTP status that the upstream sent; 0 where none came. */
  readonly status: number;
  /** True where there was output before. */
  readonly hasOutput: boolean;
  /** True where the receiver has something of the answer, so that no other target can give it. */
  readonly isOut: boolean;
  /** How long there had been no output that was awaited, in milliseconds. */
  readonly silentMs: number;
}

export interface AttemptEnd {
  /** Undefined where the answer is whole. */
  readonly failure: AttemptFailure | undefined;
  /** The usage that the upstream reported; undefined if it reported none. */
  readonly usage: Usage | undefined;
  /** What the upstream keeps for the account; empty where it made nothing. */
  readonly containerId: string;
}

/** What an attempt fails with whose time for this phase is over. */
export function overdue(phase: string, signal: CancelSignal): GatewayError {
  return phase === "read on" ? abortReason(signal) : new GatewayError("ERROR_REASON_UPSTREAM_TIMEOUT", { phase });
}

/** Why the caller's signal aborted: its deadline where it says so, else that it went away. */
export function abortReason(signal: CancelSignal): GatewayError {
  return signal.reason instanceof GatewayError ? signal.reason : new GatewayError("ERROR_REASON_CANCELLED");
}
