/**
 * The money of jobs, such as batches: what is asked of an upstream now, and answered within hours or days. It belongs
 * to no node, so that any node can settle the lines of a job that another node began.
 */
import { Price } from "../api/index.js";
import { GatewayError } from "../base/errors.js";
import { bounded, type SettleOutcome } from "./hold.js";
import { holdRefusal } from "./hold-refusal.js";
import type { MoneyLeaseKeeper } from "./money-lease-keeper.js";
import type { LateTerms, ReserveOperation, SettleOperation } from "./operation.js";
import { JOB_NODE } from "./rows.js";
import { partId } from "./transfer.js";
import type { LedgerWriter } from "./writer.js";

export type JobRequest = Omit<ReserveOperation, "kind" | "nowMs">;

/** One line of a job, with what its answer used and costs. `number` is its place in the job. */
export interface JobLine
  extends
    Pick<LateTerms, "accountId" | "keyId" | "model">,
    Omit<SettleOperation, "kind" | "requestId" | "nowMs" | "terms"> {
  readonly jobId: string;
  readonly number: number;
  readonly price: Price;
  /** The most that the line can cost: its part of the reserve. */
  readonly boundNanos: bigint;
}

export class Jobs {
  constructor(
    private readonly writer: LedgerWriter,
    private readonly leases: MoneyLeaseKeeper,
    private readonly nowMs: () => number,
  ) {}

  /**
   * Sets the most that a job can cost aside, once for each id. Rejects as a hold does, and with ALREADY_EXISTS where a
   * job with this id has ended or is another key's.
   */
  async reserve(request: JobRequest): Promise<void> {
    const operation = { kind: "reserve", ...request, nowMs: this.nowMs() } as const;
    const result = await this.leases.untilBack(() => this.writer.submit(operation));
    if (result.kind !== "held") throw holdRefusal(result, { ...operation, requestId: request.jobId });
  }

  /**
   * Settles a line, once, however often it is asked: whoever does not know whether it did may do so again. Rejects with
   * RESOURCE_UNKNOWN where the job has ended, or is not of this account and key.
   */
  async settle({
    jobId,
    number,
    accountId,
    keyId,
    model,
    price,
    boundNanos,
    ...said
  }: JobLine): Promise<SettleOutcome> {
    const nowMs = this.nowMs();
    const who = {
      jobId,
      accountId,
      keyId,
      model,
      nodeId: JOB_NODE,
      budgets: [],
      createTimeMs: nowMs,
      expireTimeMs: nowMs,
    };
    const terms: LateTerms = { ...who, amountNanos: boundNanos, price: Price.encode(price).finish() };
    const requestId = partId(jobId, number);
    const settled = { ...said, ...bounded(said, boundNanos) };
    // What is above its bound is taken of what the account has available, and so of what is leased.
    if (settled.costNanos > boundNanos) this.leases.giveBackOf(accountId);
    const result = await this.writer.submit({ kind: "settle", requestId, ...settled, nowMs, terms });
    if (result.kind === "settled") return result;
    const isGone = result.kind === "refused" && result.problem === "lease_gone";
    if (isGone) throw new GatewayError("ERROR_REASON_RESOURCE_UNKNOWN", { kind: "job", id: jobId });
    throw new GatewayError("ERROR_REASON_INTERNAL", {}, { cause: result });
  }

  /** Ends a job whose lines are all settled, and returns what is left: zero where it has ended before. */
  async end(jobId: string): Promise<bigint> {
    const result = await this.writer.submit({ kind: "return", leaseId: jobId, nowMs: this.nowMs() });
    return result.kind === "returned" ? result.amountNanos : 0n;
  }
}
