/** What is asked of the table of quotas, each in one transaction. */
import { lock, rows, type Script } from "./script.js";

/** Requests, tokens, and money in nano-USD. */
export interface QuotaCounts {
  readonly requests: bigint;
  readonly tokens: bigint;
  readonly nanos: bigint;
}

export type QuotaMeasure = keyof QuotaCounts;

/** Which quota. */
export interface QuotaName {
  readonly owner: "account" | "key";
  readonly ownerId: string;
  /** As the protocol numbers it. */
  readonly period: number;
  /** A model, a glob, or empty for all models. */
  readonly model: string;
}

/** A quota that a request is counted in. */
export interface QuotaClaim extends QuotaName {
  /** Zero is no limit. */
  readonly limits: QuotaCounts;
  /** The window that the request opens where no window is open. */
  readonly startMs: number;
  readonly endMs: number;
}

/** A quota as it is counted. */
export interface QuotaState extends QuotaName, QuotaCounts {
  readonly startMs: number;
  readonly endMs: number;
}

/** Counts a request with the most that it can use, in all quotas or in none. */
export interface QuotaTake extends QuotaCounts {
  readonly kind: "take";
  readonly claims: readonly QuotaClaim[];
  /** The least money that the request accepts, where not all of `nanos` is left. */
  readonly leastNanos: bigint;
  readonly nowMs: number;
}

/** Adds to what was counted, or takes of it, in the windows that are still those in which it was counted. */
export interface QuotaCorrection extends QuotaCounts {
  readonly kind: "correct";
  readonly windows: readonly (QuotaName & { readonly startMs: number })[];
}

export type QuotaChange = QuotaTake | QuotaCorrection;

export type QuotaResult =
  /** `nanos`: the money that is counted. `states`: the quotas with the request, in the order of its claims. */
  | { readonly kind: "taken"; readonly nanos: bigint; readonly states: readonly QuotaState[] }
  | { readonly kind: "refused"; readonly claim: QuotaClaim; readonly measure: QuotaMeasure; readonly state: QuotaState }
  | { readonly kind: "corrected" };

interface QuotaColumns {
  readonly owner: QuotaName["owner"];
  readonly owner_id: string;
  readonly period: bigint;
  readonly model: string;
  readonly start_ms: bigint;
  readonly end_ms: bigint;
  readonly requests: bigint;
  readonly tokens: bigint;
  readonly nanos: bigint;
}

const COUNTED = ["requests", "tokens"] as const;
const OF_OWNER = "SELECT * FROM quota WHERE owner = ? AND owner_id = ?";
const WRITE = `INSERT INTO quota (owner, owner_id, period, model, start_ms, end_ms, requests, tokens, nanos)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (owner, owner_id, period, model) DO UPDATE SET
  start_ms = excluded.start_ms, end_ms = excluded.end_ms, requests = excluded.requests, tokens = excluded.tokens,
  nanos = excluded.nanos`;

export const QUOTA_SCRIPTS = {
  /** Decides the changes of one account in their order. No other node changes a quota of the account meanwhile. */
  *changeQuotas(accountId: string, changes: readonly QuotaChange[]): Script<readonly QuotaResult[]> {
    yield* lock(`quotas of ${accountId}`);
    const states = new Map<string, QuotaState>();
    const named = changes.flatMap((change): readonly QuotaName[] =>
      change.kind === "take" ? change.claims : change.windows,
    );
    for (const { owner, ownerId } of new Map(named.map((name) => [`${name.owner} ${name.ownerId}`, name])).values())
      for (const found of yield* rows<QuotaColumns>(OF_OWNER, owner, ownerId)) note(states, toState(found));
    const changed = new Set<string>();
    const results = changes.map((change) => decide(change, states, changed));
    for (const key of changed) {
      const state = states.get(key);
      if (state !== undefined) yield* write(state);
    }
    return results;
  },

  /** The quotas of an owner that were ever counted. */
  *quotasOf(owner: QuotaName["owner"], ownerId: string): Script<readonly QuotaState[]> {
    return (yield* rows<QuotaColumns>(OF_OWNER, owner, ownerId)).map(toState);
  },
};

function* write(state: QuotaState): Script<void> {
  const { owner, ownerId, period, model, startMs, endMs, requests, tokens, nanos } = state;
  yield* rows(WRITE, owner, ownerId, period, model, startMs, endMs, requests, tokens, nanos);
}

/** Decides one change over the quotas in memory, and names those that it changed. */
function decide(change: QuotaChange, states: Map<string, QuotaState>, changed: Set<string>): QuotaResult {
  return change.kind === "take" ? take(change, states, changed) : correct(change, states, changed);
}

function take(change: QuotaTake, states: Map<string, QuotaState>, changed: Set<string>): QuotaResult {
  let { nanos } = change;
  const open = change.claims.map((claim) => openState(claim, states.get(keyOf(claim)), change.nowMs));
  for (const [place, claim] of change.claims.entries()) {
    const state = open[place];
    if (state === undefined) continue;
    const measure = COUNTED.find((one) => !fits(change[one], claim.limits[one], state[one]));
    if (measure !== undefined) return { kind: "refused", claim, measure, state };
    if (claim.limits.nanos === 0n) continue;
    const left = claim.limits.nanos - state.nanos;
    if (left < change.leastNanos || left <= 0n) return { kind: "refused", claim, measure: "nanos", state };
    if (left < nanos) nanos = left;
  }
  const counted = open.map((state) => added(state, { ...change, nanos }));
  for (const state of counted) {
    note(states, state);
    changed.add(keyOf(state));
  }
  return { kind: "taken", nanos, states: counted };
}

/** What was counted in a window that has ended stays with that window. */
function correct(change: QuotaCorrection, states: Map<string, QuotaState>, changed: Set<string>): QuotaResult {
  for (const window of change.windows) {
    const state = states.get(keyOf(window));
    if (state?.startMs !== window.startMs) continue;
    note(states, added(state, change));
    changed.add(keyOf(state));
  }
  return { kind: "corrected" };
}

function fits(needed: bigint, limit: bigint, used: bigint): boolean {
  return limit === 0n || needed === 0n || used + needed <= limit;
}

/** The window that is open at a time: a clock that is late counts in it too. */
function openState(claim: QuotaClaim, state: QuotaState | undefined, nowMs: number): QuotaState {
  if (state !== undefined && nowMs < state.endMs) return state;
  const { owner, ownerId, period, model, startMs, endMs } = claim;
  return { owner, ownerId, period, model, startMs, endMs, requests: 0n, tokens: 0n, nanos: 0n };
}

function added(state: QuotaState, { requests, tokens, nanos }: QuotaCounts): QuotaState {
  return {
    ...state,
    requests: state.requests + requests,
    tokens: state.tokens + tokens,
    nanos: state.nanos + nanos,
  };
}

function note(states: Map<string, QuotaState>, state: QuotaState): void {
  states.set(keyOf(state), state);
}

function keyOf({ owner, ownerId, period, model }: QuotaName): string {
  return `${owner} ${ownerId} ${period} ${model}`;
}

function toState(found: QuotaColumns): QuotaState {
  return {
    owner: found.owner,
    ownerId: found.owner_id,
    period: Number(found.period),
    model: found.model,
    startMs: Number(found.start_ms),
    endMs: Number(found.end_ms),
    requests: found.requests,
    tokens: found.tokens,
    nanos: found.nanos,
  };
}
