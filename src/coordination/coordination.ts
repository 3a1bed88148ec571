/** What nodes share and may lose: windows of requests and tokens, leases of running requests, revisions of keys. */

/** The limits of one subject; 0 means none. */
export interface AdmissionLimits {
  readonly requestsPerMinute: number;
  readonly tokensPerMinute: number;
  readonly concurrency: number;
}

/** What a request takes of one subject: a request, its tokens and a slot, each where it is limited. */
export interface Demand {
  /** Whose limits: a key, an account, or an account with a model. Its windows and slots go by this name. */
  readonly subject: string;
  readonly limits: AdmissionLimits;
  /** Tokens to reserve. */
  readonly tokens: number;
}

export interface AdmissionRequest {
  readonly requestId: string;
  /** Of different subjects, at least one. */
  readonly demands: readonly Demand[];
}

/** How a window stands. */
export interface WindowState {
  readonly limit: number;
  readonly remaining: number;
  /** Until all of the window is free again, in milliseconds. */
  readonly resetMs: number;
}

/** Of two windows the one that leaves less, or frees later. */
export function tighter(one: WindowState | undefined, other: WindowState | undefined): WindowState | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  if (one.remaining !== other.remaining) return one.remaining < other.remaining ? one : other;
  return one.resetMs >= other.resetMs ? one : other;
}

export type AdmissionResult =
  | {
      readonly admitted: true;
      /** When the tokens were reserved; a correction changes that bucket. */
      readonly admittedAtMs: number;
      /** Of all subjects, the window that leaves least. */
      readonly requests: WindowState | undefined;
      readonly tokens: WindowState | undefined;
    }
  | {
      readonly admitted: false;
      /** Whose limit it is: of all that refuse, the one that refuses longest. */
      readonly subject: string;
      readonly limit: "requests_per_minute" | "tokens_per_minute" | "concurrency";
      /** Until the same request would pass, as far as it is known, in milliseconds. */
      readonly retryAfterMs: number;
      readonly requests: WindowState | undefined;
      readonly tokens: WindowState | undefined;
      readonly limitValue: number;
      readonly remaining: number;
    };

/** All methods may be asynchronous on a shared driver; the in-process one answers at once. */
export interface Coordination {
  /** Checks the limits of all subjects and takes all of them, or none. */
  admit(request: AdmissionRequest): AdmissionResult | Promise<AdmissionResult>;
  /** What `admit` would answer now. Takes nothing. */
  peek(request: AdmissionRequest): AdmissionResult | Promise<AdmissionResult>;
  /** Gives back a subject's tokens that were not used, or takes those that were used above the reservation. */
  correct(subject: string, admittedAtMs: number, reserved: number, used: number): void;
  /** Frees the request's slot of a subject. */
  release(subject: string, requestId: string): void;
  /** Tells every node that a key changed. */
  publishRevision(keyId: string, revision: number): Promise<void>;
  /** Calls back for each key that changed anywhere. */
  onRevision(callback: (keyId: string, revision: number) => void): void;
  close(): Promise<void>;
}
