/** `tollgate audit`: who changed what. */
import type { Command } from "commander";
import { AuditResult, type AuditEvent, AuditServiceService, type ListAuditEventsResponse } from "../api/index.js";
import { auditHead, auditLines } from "../api/audit-csv.js";
import { enumWord } from "../api/descriptors.js";
import { readLimit, readMoment } from "./arguments.js";
import { connected, type ConnectionOptions, readPages, withConnection } from "./connection.js";
import { EnumWords } from "./enum-words.js";
import { CommandFailure } from "./failure.js";
import { formatList, formatTime, printPart } from "./print.js";

const RESULTS = new EnumWords<AuditResult>(AuditResult, "AUDIT_RESULT_");
const DETAIL_CHARACTERS_MAX = 80;

export function addAuditCommands(program: Command): void {
  const audit = program.command("audit").description("show who changed what");
  withConnection(
    audit
      .command("list")
      .description("list changes and refused attempts, newest first")
      .option("--account <id>", "only for this account", "")
      .option("--actor <id>", "only by this key or user", "")
      .option("--method <name>", "only this method, such as RevokeKey", "")
      .option("--resource <name>", "only for this resource, such as keys/key_4f1c", "")
      .option("--result <result>", `only with this result: ${RESULTS.words.join(", ")}`, RESULTS.read)
      .option("--from <day>", "from this UTC day or time (default: the first record)", readMoment, "")
      .option("--to <day>", "up to and including this UTC day, or before this time (default: now)", readMoment, "")
      .option("--limit <rows>", "the maximum number of rows (default: all with --csv, otherwise 100)", readLimit)
      .option("--csv", "print CSV")
      .addHelpText("after", "\nExample:\n  tollgate audit list --method RevokeKey --from 2026-11-01"),
  ).action(list);
}

interface AuditOptions extends ConnectionOptions {
  readonly account: string;
  readonly actor: string;
  readonly method: string;
  readonly resource: string;
  readonly result?: AuditResult;
  readonly from: string;
  readonly to: string;
  readonly limit?: number;
  readonly csv?: true;
}

async function list(options: AuditOptions): Promise<void> {
  if (options.csv && options.json) throw new CommandFailure("choose one of --csv and --json", "usage");
  const { from, to, actor, account: accountId, method: name, resource } = options;
  const { result = AuditResult.AUDIT_RESULT_UNSPECIFIED } = options;
  const asked = { from, to, actor, accountId, method: name, resource, result };
  const limit = options.limit ?? (options.csv ? Number.MAX_SAFE_INTEGER : 100);
  const method = AuditServiceService.listAuditEvents;
  await connected(options, async (connection) => {
    const { items, nextPageToken } = await readPages(limit, async (pageSize, pageToken) => {
      const page = await connection.call(method, { ...asked, pageSize, pageToken });
      if (pageToken === "" && options.csv) printPart(auditHead());
      if (options.csv) printPart(auditLines(page));
      // What is printed already need not be kept.
      const items = options.csv ? page.auditEvents.map(() => undefined) : page.auditEvents;
      return { items, nextPageToken: page.nextPageToken };
    });
    const auditEvents = items.filter((item) => item !== undefined);
    if (!options.csv) connection.show(method, { auditEvents, nextPageToken }, formatEvents);
  });
}

function formatEvents({ auditEvents, nextPageToken }: ListAuditEventsResponse): string {
  const columns = ["TIME", "ACTOR", "METHOD", "RESOURCE", "RESULT", "DETAIL"];
  return formatList(columns, auditEvents.map(rowOf), "No records.", nextPageToken);
}

function rowOf({ time, actor, method, resource, result, reason, before, after }: AuditEvent): string[] {
  const kind = enumWord("tollgate.v1.ActorKind", actor?.kind ?? 0);
  const who = [kind, actor?.name || actor?.id || "", actor?.address ?? ""].filter((part) => part !== "").join(" ");
  const change = before === "" ? after : `${before} -> ${after}`;
  const detail = reason === "" ? change : `${reason} ${change}`.trim();
  const word = enumWord("tollgate.v1.AuditResult", result);
  return [formatTime(time), who, method, resource, word, detail.slice(0, DETAIL_CHARACTERS_MAX)];
}
