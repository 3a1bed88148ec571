/**
 * A batch of operations on its way to the database's thread and its results on the way back, as flat lists of values.
 * Copying objects between threads costs several times what copying their values does, and every request passes here
 * twice.
 */
import type { Usage } from "../../api/index.js";
import { metersIn, metersText, NO_METERS } from "../../api/meters.js";
import type { KeyBudget, LedgerOperation, LedgerResult, SettleOperation } from "../../ledger/operation.js";

/** What stands for a cost that nobody knows. */
const UNKNOWN_NANOS = -1n;
/** What stands for a hold that waits for its grant. */
const NO_LEASE = "";
/** What stands for the key's own budget where the id of a maker does. */
const OWN = "";

const PERIODS = ["day", "week", "month", "quarter", "total"] as const satisfies readonly KeyBudget["period"][];

/** What a flat list may hold. Rare operations and results travel as objects. */
export type FlatValue = string | number | bigint | boolean | LedgerOperation | LedgerResult;

enum Tag {
  Hold,
  Settle,
  Checkpoint,
  Other,
}

enum Answer {
  Held,
  Settled,
  Noted,
  Other,
}

export function flattenOperations(operations: readonly LedgerOperation[]): FlatValue[] {
  const flat: FlatValue[] = [];
  for (const operation of operations) flattenOperation(operation, flat);
  return flat;
}

export function readOperations(flat: readonly FlatValue[]): LedgerOperation[] {
  const reader = new FlatReader(flat);
  const operations: LedgerOperation[] = [];
  while (!reader.done) operations.push(readOperation(reader));
  return operations;
}

export function flattenResults(results: readonly LedgerResult[]): FlatValue[] {
  const flat: FlatValue[] = [];
  for (const result of results) {
    if (result.kind === "held") flat.push(Answer.Held, result.amountNanos);
    else if (result.kind === "settled") {
      flat.push(Answer.Settled, result.chargedNanos, result.overageNanos, result.repeated);
    } else if (result.kind === "noted") flat.push(Answer.Noted);
    else flat.push(Answer.Other, result);
  }
  return flat;
}

export function readResults(flat: readonly FlatValue[]): LedgerResult[] {
  const reader = new FlatReader(flat);
  const results: LedgerResult[] = [];
  while (!reader.done) {
    const answer = reader.number();
    if (answer === Answer.Held) results.push({ kind: "held", amountNanos: reader.bigint() });
    else if (answer === Answer.Settled) {
      const [chargedNanos, overageNanos] = [reader.bigint(), reader.bigint()];
      results.push({ kind: "settled", chargedNanos, overageNanos, repeated: reader.boolean() });
    } else if (answer === Answer.Noted) results.push({ kind: "noted" });
    else results.push(reader.result());
  }
  return results;
}

function flattenOperation(operation: LedgerOperation, flat: FlatValue[]): void {
  switch (operation.kind) {
    case "hold": {
      const { requestId, accountId, keyId, model, amountNanos, leastNanos, nodeId, nowMs, expireTimeMs } = operation;
      flat.push(Tag.Hold, requestId, accountId, keyId, model, amountNanos, leastNanos, nodeId, nowMs, expireTimeMs);
      flat.push(asText(operation.price), operation.leaseId ?? NO_LEASE, operation.budgets.length);
      for (const { period, limitNanos, makerId } of operation.budgets) flat.push(period, limitNanos, makerId ?? OWN);
      return;
    }
    case "settle":
      if (operation.terms !== undefined) {
        flat.push(Tag.Other, operation);
        return;
      }
      flat.push(Tag.Settle, operation.usageSource, operation.attemptLog);
      flattenDelivery(operation, flat);
      return;
    case "checkpoint":
      flat.push(Tag.Checkpoint);
      flattenDelivery(operation, flat);
      return;
    default:
      flat.push(Tag.Other, operation);
  }
}

type Delivery = Omit<SettleOperation, "kind" | "usageSource" | "attemptLog" | "terms">;

function flattenDelivery(
  { requestId, usage, costNanos, operatorCostNanos, upstream, attempts, nowMs }: Delivery,
  flat: FlatValue[],
): void {
  flat.push(requestId, costNanos, operatorCostNanos ?? UNKNOWN_NANOS, upstream, attempts, nowMs);
  flattenUsage(usage, flat);
}

/** Which fields are not zero, one bit each, and those: most are zero, and each value that travels costs. */
function flattenUsage(usage: Usage, flat: FlatValue[]): void {
  const start = flat.push(0) - 1;
  let said = 0;
  const put = (bit: number, tokens: bigint): void => {
    if (tokens === 0n) return;
    said |= bit;
    flat.push(tokens);
  };
  put(1, usage.inputTokens);
  put(2, usage.cacheReadTokens);
  put(4, usage.cacheWriteTokens);
  put(8, usage.cacheWrite1hTokens);
  put(16, usage.outputTokens);
  put(32, usage.reasoningTokens);
  put(64, usage.imageTokens);
  put(128, usage.audioInputTokens);
  put(256, usage.audioOutputTokens);
  if (usage.meters.length > 0) {
    said |= METERS;
    flat.push(metersText(usage.meters));
  }
  flat[start] = said;
}

/** The bit of the meters. */
const METERS = 512;

function readUsage(reader: FlatReader): Usage {
  const said = reader.number();
  const take = (bit: number): bigint => ((said & bit) === 0 ? 0n : reader.bigint());
  return {
    inputTokens: take(1),
    cacheReadTokens: take(2),
    cacheWriteTokens: take(4),
    cacheWrite1hTokens: take(8),
    outputTokens: take(16),
    reasoningTokens: take(32),
    imageTokens: take(64),
    audioInputTokens: take(128),
    audioOutputTokens: take(256),
    meters: (said & METERS) === 0 ? NO_METERS : metersIn(reader.string()),
  };
}

function readOperation(reader: FlatReader): LedgerOperation {
  const tag = reader.number();
  if (tag === Tag.Hold) return readHold(reader);
  if (tag === Tag.Settle) {
    const [usageSource, attemptLog] = [reader.number(), reader.string()];
    return { kind: "settle", usageSource, attemptLog, ...readDelivery(reader) };
  }
  return tag === Tag.Checkpoint ? { kind: "checkpoint", ...readDelivery(reader) } : reader.operation();
}

function readHold(reader: FlatReader): LedgerOperation {
  const [requestId, accountId, keyId, model] = [reader.string(), reader.string(), reader.string(), reader.string()];
  const [amountNanos, leastNanos] = [reader.bigint(), reader.bigint()];
  const [nodeId, nowMs, expireTimeMs] = [reader.string(), reader.number(), reader.number()];
  const price = asBytes(reader.string());
  const leaseId = reader.string();
  const budgets: KeyBudget[] = [];
  for (let left = reader.number(); left > 0; left -= 1) {
    const [period, limitNanos, makerId] = [reader.period(), reader.bigint(), reader.string()];
    budgets.push(makerId === OWN ? { period, limitNanos } : { period, limitNanos, makerId });
  }
  return {
    kind: "hold",
    requestId,
    accountId,
    keyId,
    model,
    nodeId,
    amountNanos,
    leastNanos,
    nowMs,
    expireTimeMs,
    price,
    budgets,
    leaseId: leaseId === NO_LEASE ? undefined : leaseId,
  };
}

function readDelivery(reader: FlatReader): Delivery {
  const [requestId, costNanos, operatorNanos] = [reader.string(), reader.bigint(), reader.bigint()];
  const [upstream, attempts, nowMs] = [reader.string(), reader.number(), reader.number()];
  const operatorCostNanos = operatorNanos === UNKNOWN_NANOS ? undefined : operatorNanos;
  return { requestId, usage: readUsage(reader), costNanos, operatorCostNanos, upstream, attempts, nowMs };
}

/** Prices are few and each is one object, so their text is made once. */
const texts = new WeakMap<Uint8Array, string>();

function asText(bytes: Uint8Array): string {
  let text = texts.get(bytes);
  if (text === undefined) {
    text = Buffer.from(bytes).toString("latin1");
    texts.set(bytes, text);
  }
  return text;
}

let lastPrice: { readonly text: string; readonly bytes: Buffer } = { text: "", bytes: Buffer.alloc(0) };

/** One object for all that come at one price, one after the other. */
function asBytes(text: string): Buffer {
  if (lastPrice.text !== text) lastPrice = { text, bytes: Buffer.from(text, "latin1") };
  return lastPrice.bytes;
}

/**
 * Takes the values in the order in which they were put. Both ends are this file, so a wrong kind is a fault of ours.
 */
class FlatReader {
  readonly #flat: readonly FlatValue[];
  #at = 0;

  constructor(flat: readonly FlatValue[]) {
    this.#flat = flat;
  }

  get done(): boolean {
    return this.#at >= this.#flat.length;
  }

  string(): string {
    const value = this.#flat[this.#at++];
    return typeof value === "string" ? value : wrongKind();
  }

  number(): number {
    const value = this.#flat[this.#at++];
    return typeof value === "number" ? value : wrongKind();
  }

  bigint(): bigint {
    const value = this.#flat[this.#at++];
    return typeof value === "bigint" ? value : wrongKind();
  }

  boolean(): boolean {
    const value = this.#flat[this.#at++];
    return typeof value === "boolean" ? value : wrongKind();
  }

  period(): KeyBudget["period"] {
    const value = this.string();
    return PERIODS.find((period) => period === value) ?? wrongKind();
  }

  // The two object kinds have names of their own that do not meet.
  operation(): LedgerOperation {
    const value = this.#flat[this.#at++];
    return typeof value === "object" && "nowMs" in value ? value : wrongKind();
  }

  result(): LedgerResult {
    const value = this.#flat[this.#at++];
    return typeof value === "object" && !("nowMs" in value) ? value : wrongKind();
  }
}

function wrongKind(): never {
  throw new Error("a message between the threads is not what was sent");
}
