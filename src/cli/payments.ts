/** `tollgate payments`: what was paid by card, and what Stripe knows beyond it. */
import type { Command } from "commander";
import { type Payment, PaymentServiceService as service } from "../api/index.js";
import { enumWord } from "../api/descriptors.js";
import { formatUsd } from "../base/money.js";
import { readLimit, readWhole } from "./arguments.js";
import { connected, type ConnectionOptions, readPages, withConnection } from "./connection.js";
import type { Names } from "./names.js";
import { formatList, formatTime, numeric, printable, remark } from "./print.js";

interface ListOptions extends ConnectionOptions {
  readonly account: string;
  readonly attention?: boolean;
  readonly limit: number;
}

export function addPaymentCommands(program: Command): void {
  const payments = program.command("payments").description("list card payments, and book missing ones");
  withConnection(
    payments
      .command("list")
      .description("list card payments, newest first")
      .option("--account <id>", "only payments of this account", "")
      .option("--attention", "only payments that are stuck or have an open receivable")
      .option("--limit <rows>", "the maximum number of rows", readLimit, 100),
  ).action(list);
  withConnection(
    payments
      .command("reconcile")
      .description("fetch payments, refunds and disputes from Stripe and book the missing ones; safe to repeat")
      .option("--days <n>", "how many days back, up to 180 (default: 7)", readWhole),
  ).action(reconcile);
}

async function list(options: ListOptions): Promise<void> {
  await connected(options, async (connection) => {
    const method = service.listPayments;
    const filter = { accountId: options.account, attention: options.attention ?? false };
    const { items, nextPageToken } = await readPages(options.limit, async (pageSize, pageToken) => {
      const page = await connection.call(method, { ...filter, pageSize, pageToken });
      return { items: page.payments, nextPageToken: page.nextPageToken };
    });
    const amounts = ["USD", "CREDITED", "REFUNDED", "DISPUTED", "RECEIVABLE"].map(numeric);
    const columns = ["PAYMENT", "ACCOUNT", "STATE", ...amounts, "BEGUN", "STRIPE"];
    await connection.showNamed(method, { payments: items, nextPageToken }, items, (names) =>
      formatList(
        columns,
        items.map((payment) => row(payment, names)),
        "No payments.",
        nextPageToken,
      ),
    );
    if (options.json) return;
    for (const { id, problem } of items) if (problem !== "") remark(`${printable(id)}: ${printable(problem)}`);
  });
}

function row(payment: Payment, names: Names): string[] {
  const { id, accountId, amountNanos, creditedNanos, refundedNanos, disputedNanos, receivableNanos } = payment;
  const state = enumWord("tollgate.v1.PaymentState", payment.state);
  const amounts = [amountNanos, creditedNanos, refundedNanos, disputedNanos, receivableNanos].map(formatUsd);
  const whose = accountId === "" ? "-" : names.account(accountId);
  return [id, whose, state, ...amounts, formatTime(payment.createTime), payment.stripeSessionId];
}

async function reconcile(options: ConnectionOptions & { readonly days?: bigint }): Promise<void> {
  await connected(options, async (connection) => {
    const answer = await connection.call(service.reconcilePayments, { days: Number(options.days ?? 0n) });
    connection.show(service.reconcilePayments, answer, ({ lookedAt, creditCount, correctionCount, stuckCount }) => {
      const booked = `booked ${creditCount} missing credits and ${correctionCount} refunds or disputes`;
      const stuck = stuckCount === 0 ? "" : ` ${stuckCount} are stuck: tollgate payments list --attention`;
      return `Looked at ${lookedAt} payments, ${booked}.${stuck}`;
    });
  });
}
