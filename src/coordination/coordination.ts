/** What nodes share and may lose: windows of requests and tokens, leases of running requests, revisions of keys. */
import type { Relays } from "../api/relays.js";
import { GatewayError } from "../base/errors.js";

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
  /** Whose request it is. What a shared driver keeps of one account lies together. */
  readonly accountId: string;
  /** What the caller was remembered under. Absent: nobody compares it. */
  readonly revisions?: Revisions | undefined;
  /**
   * Taken together before the others, of different subjects. Where only the others are refused, these stay taken, as if
   * they had been asked for alone.
   */
  readonly first?: readonly Demand[] | undefined;
  /** Of different subjects; taken together. */
  readonly demands: readonly Demand[];
}

/**
 * The words under which a caller was read from the store: those of its key, of the keys that made it, and of its
 * account. A word changes with each change of what it stands for, and never comes again.
 */
export interface Revisions {
  readonly names: readonly string[];
  readonly words: readonly string[];
}

/** Those of a caller that has none: no word is empty, so that it counts as changed. */
export const NO_REVISIONS: Revisions = { names: ["none"], words: [""] };

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
      /** True where this node decided by its own share of the limits, because the nodes do not reach each other. */
      readonly degraded?: boolean | undefined;
      /** When the tokens were reserved; a correction changes that bucket. */
      readonly admittedAtMs: number;
      /** Of all subjects, the window that leaves least. */
      readonly requests: WindowState | undefined;
      readonly tokens: WindowState | undefined;
    }
  | {
      readonly admitted: false;
      readonly degraded?: boolean | undefined;
      /** True where what was asked for first is taken. */
      readonly firstTaken: boolean;
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

export type Admitted = Extract<AdmissionResult, { admitted: true }>;

/** The request's caller changed since it was remembered: it must be read from the store again. Nothing was taken. */
export class CallerChanged extends GatewayError {
  constructor() {
    super("ERROR_REASON_OVERLOADED", { problem: "the key is changed too often" });
  }
}

/** What concerns several nodes, or may be missed where they do not reach each other. */
export interface CoordinationState {
  /** What nodes share: `process` where there is one node, else `redis`. */
  readonly driver: string;
  /** Why this node decides by its own share; undefined where it does not. */
  readonly degraded: string | undefined;
  /** The nodes that were known last. */
  readonly nodeCount: number;
}

/** An upstream asked to wait: for one model of its, and for one account's requests, or everybody's. */
export interface CoolDown {
  readonly upstream: string;
  readonly model: string;
  readonly durationMs: number;
  /** Undefined: everybody's. */
  readonly accountId: string | undefined;
  /** The wait that the upstream named, which may be longer; absent where it named none. */
  readonly namedMs?: number;
}

/**
 * What an operator wants of an upstream at every node; or `suspect`: one node ejected it, or the model there, because
 * requests fail, so that one failure is enough at the others; or `answered`: a test at one node succeeded.
 */
export interface UpstreamOrder {
  readonly upstream: string;
  readonly order: "drain" | "undrain" | "reset" | "suspect" | "answered";
  /** Of `suspect`, as the upstream names it. Absent or empty: the whole upstream. */
  readonly model?: string | undefined;
}

/** All methods may be asynchronous on a shared driver; the in-process one answers at once. */
export interface Coordination {
  /**
   * True where other nodes share it: what a caller was remembered under is compared with each request, which is then
   * one question together with its limits.
   */
  readonly isShared: boolean;
  /** By which this node reads what others have; undefined where there are none. */
  readonly relays: Relays | undefined;
  state(): CoordinationState;
  /** Checks the limits of all subjects and takes them. Rejects with CallerChanged. */
  admit(request: AdmissionRequest): AdmissionResult | Promise<AdmissionResult>;
  /** What `admit` would answer now. Takes nothing. */
  peek(request: AdmissionRequest): AdmissionResult | Promise<AdmissionResult>;
  /** Gives back a subject's tokens that were not used, or takes those that were used above the reservation. */
  correct(accountId: string, subject: string, admitted: Admitted, reserved: number, used: number): void;
  /** Frees the request's slot of a subject. */
  release(accountId: string, subject: string, requestId: string): void;
  /**
   * The words that stand now for these names. Ask for them before the store is read; undefined where nobody knows them.
   */
  revisionsOf(accountId: string, names: readonly string[]): Promise<Revisions | undefined>;
  /** Tells every node that a key or an account changed. Rejects where it could not be told. */
  publishRevision(accountId: string, name: string): Promise<void>;
  /** Calls back for each key and each account that changed anywhere; undefined: any of them may have. */
  onRevision(callback: (name: string | undefined) => void): void;
  /** Tells the other nodes that an upstream asked to wait. What does not reach them they learn by themselves. */
  publishCoolDown(coolDown: CoolDown): void;
  /** Calls back for each wait that another node was asked for. */
  onCoolDown(callback: (coolDown: CoolDown) => void): void;
  /** Tells the other nodes that live now what they must know of an upstream. */
  publishOrder(order: UpstreamOrder): void;
  /** Calls back for each such order that was given at another node. */
  onOrder(callback: (order: UpstreamOrder) => void): void;
  close(): Promise<void>;
}
