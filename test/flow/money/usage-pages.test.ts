/** Sums of more than 10,000 days, keys and models: whole in pages, files and commands, with one total of all. */
import { rmSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DAY_MS, dayOf } from "../../../src/base/day.js";
import type { LedgerOperation } from "../../../src/ledger/operation.js";
import type { Store } from "../../../src/store/store.js";
import { creditOf, holdOf, settleOf, usage } from "../../ledger/operations.js";
import { commandsOfOneProcess } from "../../support/commands.js";
import { type GatewayProcess, OPERATOR_KEY, startGateway } from "../../support/gateway-process.js";
import { Management } from "../../support/management.js";
import { openTestStore } from "../../support/open-test-store.js";
import { bySweep } from "../../support/sweep.js";

const tollgate = commandsOfOneProcess();
const DAYS = 6;
const MODELS = 1_700;
/** Of the account beside it, whose rows stand between those of acme. */
const OTHER_MODELS = 50;
const ACME_ROWS = DAYS * MODELS;
const ROWS = ACME_ROWS + DAYS * OTHER_MODELS;
const BATCH = 1_000;

interface Row {
  readonly day: string;
  readonly account: string;
  readonly model: string;
  readonly cost: bigint;
}

type Json = Readonly<Record<string, unknown>>;

const rows: Row[] = [];
let gateway: GatewayProcess;
let env: Record<string, string>;
const keyOf: Record<string, { secret: string; id: string }> = {};
const idOf = ({ day, account, model }: Row): string => `${day} ${account} ${model}`;
const costOf = (some: readonly Row[]): bigint => some.reduce((sum, { cost }) => sum + cost, 0n);
const ofAcme = (): Row[] => rows.filter(({ account }) => account === "acme");

/** One request for each row, each at a price of its own: a row that is missing or told twice changes the sum. */
function* requests(nowMs: number): Generator<LedgerOperation> {
  yield creditOf(10n ** 12n, { creditId: "seed-acme", accountId: "acme", nowMs });
  yield creditOf(10n ** 12n, { creditId: "seed-other", accountId: "other", nowMs });
  for (let ago = DAYS - 1; ago >= 0; ago--) {
    // The last of them begin and end today, whatever the time is.
    const timeMs = nowMs - ago * DAY_MS;
    for (let at = 0; at < MODELS + OTHER_MODELS; at++) {
      const account = at < MODELS ? "acme" : "other";
      const requestId = `req_${ago}_${at}`;
      const model = `model-${at}`;
      const cost = BigInt(1 + rows.length);
      const held = { accountId: account, keyId: keyOf[account]!.id, model, amountNanos: cost, nowMs: timeMs };
      yield holdOf({ ...held, requestId });
      yield settleOf({ requestId, costNanos: cost, usage: usage(1n), nowMs: timeMs });
      rows.push({ day: dayOf(timeMs), account, model, cost });
    }
  }
}

async function seed(store: Store): Promise<void> {
  const operations = [...requests(Date.now())];
  for (let at = 0; at < operations.length; at += BATCH) await store.ledger.commit(operations.slice(at, at + BATCH));
  await store.close();
}

beforeAll(async () => {
  const first = await startGateway();
  const { dataDirectory: directory } = first;
  const management = new Management(first);
  for (const account of ["acme", "other"]) {
    await management.account(account, 0n);
    keyOf[account] = await management.makeKey(account);
  }
  expect(await first.stop()).toBe(0);
  await seed(await openTestStore(directory, "node_of_this_test"));
  gateway = await startGateway({ dataDirectory: directory });
  env = { TOLLGATE_OPERATOR_KEY: OPERATOR_KEY, TOLLGATE_GATEWAY: gateway.grpc };
}, 180_000);
afterAll(async () => {
  await gateway.stop();
  rmSync(gateway.dataDirectory, { recursive: true, force: true });
});

function rowOf(told: Json): Row {
  const { day, account_id: account, model, cost_nanos: cost } = told;
  return { day: String(day), account: String(account), model: String(model), cost: BigInt(String(cost)) };
}

/** All pages of a size, each of which must tell the same total. */
async function paged(secret: string, size: number): Promise<{ found: Row[]; totals: Set<string>; pages: number }> {
  const management = new Management(gateway, secret);
  const found: Row[] = [];
  const totals = new Set<string>();
  for (let [token, pages] = ["", 1]; ; pages++) {
    const { status, body } = await management.call("GET", `/usage?page_size=${size}&page_token=${token}`);
    expect(status).toBe(200);
    found.push(...(body["summaries"] as Json[]).map(rowOf));
    const { request_count: count, cost_nanos: cost } = body["total"] as Json;
    totals.add(`${String(count)} ${String(cost)}`);
    token = String(body["next_page_token"]);
    if (token === "") return { found, totals, pages };
    expect(pages, "the pages end").toBeLessThanOrEqual(ROWS);
  }
}

const sorted = (some: readonly Row[]): string[] => some.map((row) => `${idOf(row)} ${row.cost}`).toSorted();

const ofOperator = { secret: () => OPERATOR_KEY, all: () => rows, pages: 11 };
const OPERATOR = { ...ofOperator, who: "an operator", size: 1_000 };
const IN_ODD_PAGES = { ...ofOperator, who: "an operator, in odd pages", size: 997 };
const AT_ONCE = { ...ofOperator, who: "an operator, who asks for all at once", size: 50_000 };
const TENANT = { who: "a tenant", secret: () => keyOf["acme"]!.secret, all: ofAcme, size: 1_000, pages: 11 };
const READERS = [OPERATOR, IN_ODD_PAGES, AT_ONCE, TENANT];

describe.each(bySweep({ short: [IN_ODD_PAGES, TENANT], long: READERS, all: READERS }))(
  "$who",
  ({ secret, all, size, pages: most }) => {
    test("reads every row once, the newest day too, and each page has the total of all", async () => {
      const { found, totals, pages } = await paged(secret(), size);
      expect(all().length).toBeGreaterThan(10_000);
      expect(pages).toBe(most);
      expect(sorted(found)).toEqual(sorted(all()));
      expect([...totals]).toEqual([`${all().length} ${costOf(all())}`]);
      expect(found.at(-1)?.day).toBe(dayOf(Date.now()));
    });
  },
);

test.each([
  { format: "csv", heads: 1 },
  { format: "jsonl", heads: 0 },
  { format: "focus", heads: 1 },
])("as $format it is one file of all rows", async ({ format, heads }) => {
  const headers = { authorization: `Bearer ${OPERATOR_KEY}` };
  const response = await fetch(`${gateway.url}/api/v1/usage?format=${format}`, { headers });
  const lines = (await response.text()).trim().split(/\r?\n/).slice(heads);
  expect(new Set(lines).size).toBe(ROWS);
  const missing = rows.filter((row, at) => at % 97 === 0 && !lines.some((line) => line.includes(row.model)));
  expect(missing).toEqual([]);
  // The command reads the same pages, whichever format it writes.
  if (format !== bySweep({ short: "csv", long: format, all: format })) return;
  const exported = await tollgate(["export", "usage", "--format", format], env);
  expect(exported).toMatchObject({ code: 0, stderr: "" });
  expect(exported.stdout.trim().split(/\r?\n/).slice(heads)).toEqual(lines);
});

test("the command's table and its JSON have all rows, and the total of all", async () => {
  const { stdout, code } = await tollgate(["usage", "--json"], env);
  const told = JSON.parse(stdout) as { summaries: Json[]; total: Json; next_page_token: string };
  expect([code, told.next_page_token]).toEqual([0, ""]);
  expect(sorted(told.summaries.map(rowOf))).toEqual(sorted(rows));
  expect(told.total).toMatchObject({ request_count: `${ROWS}`, cost_nanos: `${costOf(rows)}` });
  const lines = (await tollgate(["usage"], env)).stdout.trimEnd().split("\n");
  expect(lines).toHaveLength(ROWS + 2);
  expect(lines.at(-1)).toMatch(new RegExp(`^total +${ROWS} +0 +${ROWS} `));
});

test("sums by day and model are all there as well, and add up to the same total", async () => {
  const management = new Management(gateway);
  const from = new Date(Date.now() - 7 * DAY_MS).toISOString();
  const query = (by: string): string => `/usage:query?${by}&start_time=${from}`;
  const by = "group_by=day&group_by=model";
  const { status, body } = await management.call("GET", query(by));
  expect(status).toBe(200);
  const sums = body["sums"] as { values: string[]; cost_nanos: string }[];
  expect(sums).toHaveLength(ROWS);
  expect(sums.reduce((sum, { cost_nanos: cost }) => sum + BigInt(cost), 0n)).toBe(costOf(rows));
});
