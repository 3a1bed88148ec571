/** What nodes share and may lose: windows of requests and tokens, leases of running requests, revisions of keys. */

/** The limits of one key; 0 means none. */
export interface AdmissionLimits {
  readonly requestsPerMinute: number;
  readonly tokensPerMinute: number;
  readonly concurrency: number;
}

export interface AdmissionRequest {
  readonly requestId: string;
  /** Whose limits: the key's id. */
  readonly subject: string;
  readonly limits: AdmissionLimits;
  /** Tokens to reserve. */
  readonly tokens: number;
}

/** How a window stands. */
export interface WindowState {
  readonly limit: number;
  readonly remaining: number;
  /** Until all of the window is free again, in milliseconds. */
  readonly resetMs: number;
}

export type AdmissionResult =
  | {
      readonly admitted: true;
      /** When the tokens were reserved; a correction changes that bucket. */
      readonly admittedAtMs: number;
      readonly requests: WindowState | undefined;
      readonly tokens: WindowState | undefined;
    }
  | {
      readonly admitted: false;
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
  /** Checks all limits and takes all of them, or none. */
  admit(request: AdmissionRequest): AdmissionResult | Promise<AdmissionResult>;
  /** What `admit` would answer now. Takes nothing. */
  peek(request: AdmissionRequest): AdmissionResult | Promise<AdmissionResult>;
  /** Gives back tokens that were not used, or takes those that were used above the reservation. */
  correct(subject: string, admittedAtMs: number, reserved: number, used: number): void;
  /** Frees the request's slot. */
  release(subject: string, requestId: string): void;
  /** Tells every node that a key changed. */
  publishRevision(keyId: string, revision: number): Promise<void>;
  /** Calls back for each key that changed anywhere. */
  onRevision(callback: (keyId: string, revision: number) => void): void;
  close(): Promise<void>;
}
