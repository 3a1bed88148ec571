/** Exports over HTTP: each form whole over all pages, or cut so that no client takes it for whole. */
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  AccountServiceService,
  EntryKind,
  type GetStatementResponse,
  type SummarizeUsageResponse,
  UsageServiceService,
} from "../../src/api/index.js";
import { NO_USAGE } from "../../src/api/usage.js";
import { GatewayError } from "../../src/base/errors.js";
import { KEY, startServer, type TestServer } from "../support/http-server.js";

const { getStatement } = AccountServiceService;
const { summarizeUsage } = UsageServiceService;
const PAGES = 3;

let served: TestServer;
/** The page that fails; none where it is not one of them. */
let failing = -1;

beforeAll(async () => {
  served = await startServer();
  served.channel.unaryScripts.set(getStatement.path, ({ bytes }) => {
    const page = pageIn(getStatement.requestDeserialize(bytes).pageToken);
    return getStatement.responseSerialize(statementPage(page));
  });
  served.channel.unaryScripts.set(summarizeUsage.path, ({ bytes }) => {
    const page = pageIn(summarizeUsage.requestDeserialize(bytes).pageToken);
    return summarizeUsage.responseSerialize(usagePage(page));
  });
});
afterAll(() => served.close());

function pageIn(token: string): number {
  const page = token === "" ? 0 : Number(token);
  if (page === failing) throw new GatewayError("ERROR_REASON_LEDGER_UNAVAILABLE");
  return page;
}

const tokenAfter = (page: number): string => (page + 1 < PAGES ? `${page + 1}` : "");
const POINT = { availableNanos: 9_000_000_000_000_001n, heldNanos: 0n };

function statementPage(page: number): GetStatementResponse {
  const entry = {
    id: `c:=${page}`,
    kind: EntryKind.ENTRY_KIND_CREDIT,
    sequence: BigInt(page + 1),
    amountNanos: 9_000_000_000_000_001n,
    availableChangeNanos: 1n,
    heldChangeNanos: 0n,
    requestId: "",
    createTime: new Date(0),
    debitAccount: "operator:granted",
    creditAccount: "acme",
    reason: "",
    actor: "",
  };
  return { opening: POINT, entries: [{ entry, balance: POINT }], closing: POINT, nextPageToken: tokenAfter(page) };
}

function usagePage(page: number): SummarizeUsageResponse {
  const sum = { day: "2026-11-21", accountId: "acme", keyId: `key_${page}`, model: "m", requestCount: 2n };
  const money = { costNanos: 9_000_000_000_000_001n, refundedNanos: 0n };
  return {
    summaries: [{ ...sum, usage: NO_USAGE, ...money }],
    nextPageToken: tokenAfter(page),
    total: undefined,
  };
}

const FORMS = [
  { path: "accounts/acme/statement", format: "csv", type: "text/csv", file: "statement-acme.csv", lines: PAGES + 3 },
  {
    path: "accounts/acme/statement",
    format: "jsonl",
    type: "application/x-ndjson",
    file: "statement-acme.jsonl",
    lines: PAGES,
  },
  { path: "usage", format: "csv", type: "text/csv", file: "usage.csv", lines: PAGES + 1 },
  { path: "usage", format: "jsonl", type: "application/x-ndjson", file: "usage.jsonl", lines: PAGES },
  { path: "usage", format: "focus", type: "text/csv", file: "usage-focus.csv", lines: PAGES + 1 },
] as const;

const ask = (path: string, format: string): Promise<Response> =>
  fetch(`${served.url}/api/v1/${path}?format=${format}`, { headers: KEY });

test.each(FORMS)("$path as $format is all of its pages", async ({ path, format, type, file, lines }) => {
  failing = -1;
  const response = await ask(path, format);
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toContain(type);
  expect(response.headers.get("content-disposition")).toBe(`attachment; filename="${file}"`);
  const read = (await response.text()).trim().split(/\r?\n/);
  expect(read).toHaveLength(lines);
  if (format !== "jsonl") return;
  for (const line of read) {
    const said = JSON.parse(line) as Record<string, unknown>;
    // No reader rounds what is text.
    expect(said["amount_nanos"] ?? said["cost_nanos"]).toBe("9000000000000001");
    expect(said["account_id"]).toBe("acme");
  }
});

test.each(FORMS)("$path as $format is refused, or cut where a later page fails", async ({ path, format }) => {
  failing = 0;
  const refused = await ask(path, format);
  expect(refused.status).toBe(503);
  expect(await refused.json()).toHaveProperty("error");
  failing = 1;
  const cut = await ask(path, format);
  expect(cut.status).toBe(200);
  await expect(cut.text()).rejects.toThrow();
});

test("a form that a list has not is refused by name", async () => {
  const refused = await ask("accounts/acme/statement", "focus");
  expect(refused.status).toBe(400);
  expect(JSON.stringify(await refused.json())).toContain("must be csv, jsonl or json");
});
