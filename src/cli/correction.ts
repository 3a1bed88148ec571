/** `tollgate account debit`, `freeze` and `unfreeze`, and `tollgate request refund`: what an operator corrects. */
import { randomBytes } from "node:crypto";
import type { Command } from "commander";
import { AccountServiceService, UsageServiceService } from "../api/index.js";
import { formatUsd } from "../base/money.js";
import { readUsd } from "./arguments.js";
import { connected, type ConnectionOptions, withConnection } from "./connection.js";
import { CommandFailure } from "./failure.js";
import { addRequestReports } from "./request.js";
import { typedIn } from "./large-amounts.js";
import { printable } from "./print.js";

interface CorrectionOptions extends ConnectionOptions {
  readonly id?: string;
  readonly reason: string;
}

export function addDebitCommand(account: Command): void {
  withConnection(
    account
      .command("debit")
      .description("take money back; if the balance is too low, the rest is booked as a receivable")
      .argument("<id>", "the account")
      .argument("<usd>", "how much, such as 25.00", readUsd)
      .requiredOption("--reason <text>", "the reason")
      .option("--id <debit>", "your own id of this debit; repeating it takes nothing more")
      .addHelpText("after", '\nExample:\n  tollgate account debit acme 25.00 --reason "inv-7 was never paid"'),
  ).action(debit);
}

export function addRequestCommands(program: Command): void {
  const request = program.command("request").alias("requests").description("show requests, and correct their charges");
  addRequestReports(request);
  withConnection(
    request
      .command("refund")
      .description("give back the charge of a request, or a part of it")
      .argument("<id>", "the id of the request, as in x-request-id")
      .requiredOption("--reason <text>", "the reason")
      .option("--usd <amount>", "how much (default: the rest of the charge)", readUsd)
      .option("--id <refund>", "your own id of this refund; repeating it gives nothing more")
      .addHelpText("after", '\nExample:\n  tollgate request refund req_1 --usd 0.02 --reason "the answer was cut"'),
  ).action(refund);
}

export function addFreezeCommands(account: Command): void {
  withConnection(
    account
      .command("freeze")
      .description("refuse all new requests of an account")
      .argument("<id>", "the account")
      .requiredOption("--reason <text>", "the reason, which the clients of the account see")
      .option("--end-streams", "also end its running requests, and charge them for what was delivered")
      .addHelpText("after", '\nExample:\n  tollgate account freeze acme --reason "chargeback" --end-streams'),
  ).action(freeze);
  withConnection(
    account
      .command("unfreeze")
      .description("accept the requests of a frozen account again")
      .argument("<id>", "the account"),
  ).action(unfreeze);
}

async function freeze(id: string, options: ConnectionOptions & { reason: string; endStreams?: true }): Promise<void> {
  await connected(options, async (connection) => {
    const method = AccountServiceService.freezeAccount;
    const asked = { id, reason: options.reason, endStreams: options.endStreams ?? false };
    const answer = await connection.call(method, asked);
    connection.show(method, answer, () => `Froze ${printable(id)}.`);
  });
}

async function unfreeze(id: string, options: ConnectionOptions): Promise<void> {
  await connected(options, async (connection) => {
    const method = AccountServiceService.unfreezeAccount;
    const answer = await connection.call(method, { id });
    connection.show(method, answer, () => `Unfroze ${printable(id)}.`);
  });
}

async function debit(id: string, amountNanos: bigint, options: CorrectionOptions): Promise<void> {
  if (amountNanos === 0n) throw new CommandFailure("a debit must be above 0", "usage");
  const debitId = options.id ?? makeId();
  await typedIn("debit", amountNanos, options, async (connection) => {
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
  if (options.usd === 0n) throw new CommandFailure("a refund must be above 0", "usage");
  await typedIn("refund", options.usd, options, async (connection) => {
    const method = UsageServiceService.refundRequest;
    const asked = { id, amountNanos: options.usd, refundId, reason: options.reason };
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
