/** `tollgate account debit` and `tollgate request refund`: what an operator corrects, each with its reason. */
import { randomBytes } from "node:crypto";
import type { Command } from "commander";
import { AccountServiceService, UsageServiceService } from "../api/index.js";
import { formatUsd } from "../money.js";
import { readUsd } from "./arguments.js";
import { connected, type ConnectionOptions, withConnection } from "./connection.js";
import { CommandFailure } from "./failure.js";
import { printable } from "./print.js";

interface CorrectionOptions extends ConnectionOptions {
  readonly id?: string;
  readonly reason: string;
}

export function addDebitCommand(account: Command): void {
  withConnection(
    account
      .command("debit")
      .description("take money back, once for each debit id; what the account has not is booked as a receivable")
      .argument("<id>", "the account")
      .argument("<usd>", "how much, such as 25.00", readUsd)
      .requiredOption("--reason <text>", "why")
      .option("--id <debit>", "your own id of this debit; repeating it takes nothing")
      .addHelpText("after", '\nExample:\n  tollgate account debit acme 25.00 --reason "inv-7 was never paid"'),
  ).action(debit);
}

export function addRequestCommands(program: Command): void {
  const request = program.command("request").description("correct what requests were charged");
  withConnection(
    request
      .command("refund")
      .description("give back what a request was charged, or a part of it, once for each refund id")
      .argument("<id>", "the request, as in x-request-id")
      .requiredOption("--reason <text>", "why")
      .option("--usd <amount>", "how much (default: all that is left of the charge)", readUsd)
      .option("--id <refund>", "your own id of this refund; repeating it gives nothing")
      .addHelpText("after", '\nExample:\n  tollgate request refund req_1 --usd 0.02 --reason "the answer was cut"'),
  ).action(refund);
}

async function debit(id: string, amountNanos: bigint, options: CorrectionOptions): Promise<void> {
  if (amountNanos === 0n) throw new CommandFailure("a debit must be above 0");
  const debitId = options.id ?? makeId();
  await connected(options, async (connection) => {
    const method = AccountServiceService.debitAccount;
    const answer = await connection.call(method, { id, amountNanos, debitId, reason: options.reason });
    connection.show(method, answer, ({ repeatedDebit, debitedNanos, receivableNanos, availableNanos }) => {
      const done = repeatedDebit
        ? `${printable(debitId)} was debited before, so nothing changed.`
        : `Debited ${formatUsd(debitedNanos)} USD from ${printable(id)} as ${printable(debitId)}.`;
      const rest =
        receivableNanos === 0n ? "" : ` Not available, so yours to receive: ${formatUsd(receivableNanos)} USD.`;
      return `${done}${rest} Available: ${formatUsd(availableNanos)} USD.`;
    });
  });
}

async function refund(id: string, options: CorrectionOptions & { usd?: bigint }): Promise<void> {
  const refundId = options.id ?? makeId();
  if (options.usd === 0n) throw new CommandFailure("a refund must be above 0");
  await connected(options, async (connection) => {
    const method = UsageServiceService.refundRequest;
    const asked = { id, amountNanos: options.usd ?? 0n, refundId, reason: options.reason };
    const answer = await connection.call(method, asked);
    connection.show(method, answer, ({ repeatedRefund, amountNanos, availableNanos }) => {
      const done = repeatedRefund
        ? `${printable(refundId)} was refunded before, so nothing changed.`
        : `Refunded ${formatUsd(amountNanos)} USD of ${printable(id)} as ${printable(refundId)}.`;
      return `${done} Available: ${formatUsd(availableNanos)} USD.`;
    });
  });
}

function makeId(): string {
  return `cli-${Date.now().toString(36)}-${randomBytes(4).toString("hex")}`;
}
