/** What goes to the script and what comes back: the parts of a command, and the names of keys. */
import type { AdmissionRequest, AdmissionResult, Demand, WindowState } from "./coordination.js";
import type { Answer } from "./redis-pipe.js";
import { longestOf, type Reading, tightestOf, type WindowReading } from "./limit-decision.js";

const NONE: readonly Demand[] = [];

/** What is sent: the keys that it touches, and its words. */
export interface Part {
  readonly keys: string[];
  readonly args: (string | number)[];
  /** Those that its keys must hold, where it asks for nothing else. */
  readonly words: readonly string[] | undefined;
}

/** The names of keys. What is of one account has one hash tag, so that a cluster keeps it on one node. */
export class KeyNames {
  constructor(private readonly prefix: string) {}

  /** What all keys of an account begin with. Braces would end the tag; a tag need not be an account's own. */
  account(accountId: string): string {
    return `${this.prefix}{${accountId.replaceAll(/[{}]/g, "_")}}`;
  }

  revision(accountId: string, name: string): string {
    return `${this.account(accountId)}:v:${name}`;
  }

  requests(account: string, subject: string): string {
    return `${account}:r:${subject}`;
  }

  tokens(account: string, subject: string): string {
    return `${account}:t:${subject}`;
  }

  slots(account: string, subject: string): string {
    return `${account}:c:${subject}`;
  }

  /** What one node reads of another, on behalf of the account. */
  relay(accountId: string, relayId: string): string {
    return `${this.account(accountId)}:y:${relayId}`;
  }

  /** The channel of what nodes ask all others. */
  get asks(): string {
    return `${this.prefix}asks`;
  }

  /** The channel of what one node is told. */
  node(nodeId: string): string {
    return `${this.prefix}node:${nodeId}`;
  }

  get nodes(): string {
    return `${this.prefix}nodes`;
  }

  /** The channel of changed keys and accounts. */
  get changes(): string {
    return `${this.prefix}changes`;
  }

  /** The channel of upstreams that asked to wait. */
  get coolDowns(): string {
    return `${this.prefix}cool-downs`;
  }

  /** The channel of what operators want of upstreams. */
  get orders(): string {
    return `${this.prefix}upstream-orders`;
  }
}

export function admissionPart(act: "A" | "P", request: AdmissionRequest, names: KeyNames): Part {
  const { requestId, accountId, revisions, first = NONE, demands } = request;
  const account = names.account(accountId);
  const keys: string[] = [];
  const args: (string | number)[] = [act, requestId, revisions?.names.length ?? 0];
  if (revisions !== undefined) {
    for (const name of revisions.names) keys.push(`${account}:v:${name}`);
    for (const word of revisions.words) args.push(word);
  }
  args.push(first.length, first.length + demands.length);
  const add = ({ subject, limits, tokens }: Demand): void => {
    const { requestsPerMinute, tokensPerMinute, concurrency } = limits;
    if (requestsPerMinute > 0) keys.push(names.requests(account, subject));
    if (tokensPerMinute > 0) keys.push(names.tokens(account, subject));
    if (concurrency > 0) keys.push(names.slots(account, subject));
    args.push(requestsPerMinute, tokensPerMinute, concurrency, tokens);
  };
  first.forEach(add);
  demands.forEach(add);
  return { keys, args, words: first.length + demands.length === 0 ? revisions?.words : undefined };
}

const CHANGED = 2;

/** Undefined: the caller changed since it was remembered. */
export function admissionResult(
  answer: NonNullable<Answer>,
  { first = NONE, demands }: AdmissionRequest,
  takes: boolean,
): AdmissionResult | undefined {
  const numbers = Array.isArray(answer) ? answer.map(Number) : [CHANGED];
  if (numbers[0] === CHANGED) return undefined;
  const [status, admittedAtMs = 0, passed = 0] = numbers;
  let at = 3;
  const next = (): number => numbers[at++] ?? 0;
  const windowOf = (limit: number): WindowReading | undefined => {
    if (limit === 0) return undefined;
    const sum = next();
    const resetMs = next();
    const state: WindowState = { limit, remaining: Math.max(0, Math.floor(limit - sum)), resetMs };
    return { state, waitMs: next() };
  };
  const readingOf = ({ limits }: Demand): Reading => {
    const requests = windowOf(limits.requestsPerMinute);
    const tokens = windowOf(limits.tokensPerMinute);
    return { requests, tokens, leased: limits.concurrency > 0 ? next() : 0 };
  };
  const firstReadings = first.map(readingOf);
  const readings = demands.map(readingOf);
  if (status === 1) return { admitted: true, admittedAtMs, ...tightestOf([...firstReadings, ...readings]) };
  const isFirst = passed === 0 && first.length > 0;
  const half = isFirst ? firstReadings : readings;
  const reached = longestOf(isFirst ? first : demands, (_demand, index) => half[index] ?? NO_READING);
  if (reached === undefined) throw new Error("Redis refused what no limit refuses");
  const shown = isFirst ? firstReadings : [...firstReadings, ...readings];
  return { admitted: false, firstTaken: takes && passed === 1 && first.length > 0, ...reached, ...tightestOf(shown) };
}

const NO_READING: Reading = { requests: undefined, tokens: undefined, leased: 0 };
