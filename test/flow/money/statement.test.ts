/** An account's statement over HTTP, as JSON and as CSV, and on the command line: three views of one ledger. */
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { chat, postChat } from "../../support/chat-call.js";
import { commandsOfOneProcess } from "../../support/commands.js";
import { expectEnvelope } from "../../support/envelope.js";
import { OPERATOR_KEY } from "../../support/gateway-process.js";
import { SWEPT_TOPOLOGIES } from "../../support/topologies.js";
import { startWorld, type Topology, type World } from "../../support/world.js";

const tollgate = commandsOfOneProcess();
const WAIT = { timeout: 60_000, interval: 50 };
/** Ids that a spreadsheet would run, or that CSV would trip over. */
const CREDIT_IDS = ["=1+1", "+1", "-1", "@SUM(A1)", "a,b", 'say "hi"', "two\r\nlines", "\ttab", "Grüße ☂", "＝1"];

/** Reads CSV as RFC 4180 says, and refuses what it does not allow. */
function readCsv(text: string): string[][] {
  const rows: string[][] = [];
  const field = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/y;
  let row: string[] = [];
  while (field.lastIndex < text.length) {
    const at = field.lastIndex;
    const found = field.exec(text);
    if (found === null) throw new Error(`no CSV from ${at} on: ${JSON.stringify(text.slice(at, at + 40))}`);
    row.push(found[1]?.replaceAll('""', '"') ?? found[2] ?? "");
    if (found[3] === ",") continue;
    rows.push(row);
    row = [];
  }
  expect(row, "the last line ends").toEqual([]);
  return rows;
}

/** USD as nano-USD, read apart from our own reader. */
function nanos(usd: string): bigint {
  expect(usd).toMatch(/^-?\d+\.\d{2,9}$/);
  const [whole = "", fraction = ""] = usd.split(".");
  return BigInt(whole + fraction.padEnd(9, "0"));
}

interface Page {
  readonly opening: Record<string, string>;
  readonly closing: Record<string, string>;
  readonly entries: { readonly entry: Record<string, string>; readonly balance: Record<string, string> }[];
  readonly next_page_token: string;
}

let world: World;
const get = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${world.front.url}/api/v1/accounts/${path}`, {
    headers: { authorization: `Bearer ${OPERATOR_KEY}`, ...headers },
  });

async function jsonPages(query: string): Promise<Page[]> {
  const pages: Page[] = [];
  let token = "";
  do {
    const response = await get(`acme/statement?${query}&page_token=${token}`);
    expect(response.status).toBe(200);
    const page = (await response.json()) as Page;
    pages.push(page);
    token = page.next_page_token;
  } while (token !== "");
  return pages;
}

describe.each(SWEPT_TOPOLOGIES)("in %s", (topology: Topology) => {
  beforeAll(async () => {
    world = await startWorld(topology);
    for (const id of CREDIT_IDS) {
      const credit = { amount_nanos: "1", credit_id: id };
      expect((await world.management.call("POST", "/accounts/acme:credit", credit)).status).toBe(200);
    }
    for (let call = 0; call < 4; call++)
      expect((await postChat(world.front, world.secret, chat("Hello"))).status).toBe(200);
    await vi.waitFor(async () => expect((await world.management.balance("acme")).heldNanos).toBe(0n), WAIT);
  });
  afterAll(() => world.close());

  test("JSON pages add up to the balance, and each begins where the last one ended", async () => {
    const pages = await jsonPages("page_size=4");
    expect(pages.length).toBe(Math.ceil((1 + CREDIT_IDS.length + 8) / 4));
    let before: Record<string, string> = { available_nanos: "0", held_nanos: "0" };
    for (const page of pages) {
      expect(page.opening).toMatchObject(before);
      for (const { entry, balance } of page.entries) {
        const plus = (change: string, sum: string): string => String(BigInt(entry[change]!) + BigInt(before[sum]!));
        before = {
          available_nanos: plus("available_change_nanos", "available_nanos"),
          held_nanos: plus("held_change_nanos", "held_nanos"),
        };
        expect(balance).toMatchObject(before);
      }
      expect(page.closing).toMatchObject(before);
    }
    const { availableNanos } = await world.management.balance("acme");
    expect(before).toEqual({ available_nanos: String(availableNanos), held_nanos: "0" });
  });

  test("CSV says the same, and no cell of it is a formula", async () => {
    const response = await get("acme/statement", { accept: "text/csv" });
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toMatch(/^text\/csv; charset=utf-8/);
    expect(response.headers.get("content-disposition")).toBe('attachment; filename="statement-acme.csv"');
    expect(response.headers.get("x-request-id")).toMatch(/\S/);
    const text = await response.text();
    expect(await (await get("acme/statement?format=csv")).text()).toBe(text);
    const [titles, opening, ...rest] = readCsv(text);
    const closing = rest.pop();
    expect(titles?.slice(0, 3)).toEqual(["sequence", "time", "kind"]);
    expect(opening?.slice(2)).toEqual(["opening", "", "", "", "0.00", "0.00"]);
    let available = 0n;
    for (const row of rest) {
      expect(row).toHaveLength(8);
      available += nanos(row[5]!);
      expect(nanos(row[6]!)).toBe(available);
      for (const cell of row) expect(cell).not.toMatch(/^(?:[=+@\t\r\n＝＋－＠]|-(?!\d+\.\d+$))/);
    }
    expect(closing?.[2]).toBe("closing");
    expect(nanos(closing![6]!)).toBe((await world.management.balance("acme")).availableNanos);
    const entries = (await jsonPages("page_size=1000"))[0]!.entries;
    expect(rest.map((row) => row[3])).toEqual(entries.map(({ entry }) => entry["id"]));
    for (const id of CREDIT_IDS) expect(rest.map((row) => row[3])).toContain(`c:${id}`);
  });

  test("CSV of one page tells where the next one begins", async () => {
    const first = await get("acme/statement?format=csv&page_size=3");
    const token = first.headers.get("x-tollgate-next-page-token");
    expect(token).toMatch(/^[\w-]+$/);
    const rows = readCsv(await first.text());
    const next = readCsv(await (await get(`acme/statement?format=csv&page_size=3&page_token=${token}`)).text());
    expect(rows).toHaveLength(6);
    expect(next[1]?.slice(6)).toEqual(rows.at(-1)?.slice(6));
    expect(next[2]?.[0]).not.toBe(rows.at(-2)?.[0]);
  });

  test.each([
    { query: "from=2026-13-01", param: "from" },
    { query: "to=yesterday", param: "to" },
    { query: "from=2026-11-02&to=2026-10-01", param: "from" },
    { query: "from=2026-11-02&to=2026-11-01", param: "from" },
    { query: "from=2026-02-30T00:00:00Z", param: "from" },
    { query: "page_size=-1", param: "page_size" },
    { query: "page_size=1.5", param: "page_size" },
    { query: "page_token=abc", param: "page_token" },
    { query: "format=xml", param: "format" },
    { query: "format=csv&format=csv", param: "format" },
    { query: "colour=red", param: "colour" },
  ])("$query is refused, as JSON and as CSV", async ({ query, param }) => {
    for (const accept of ["application/json", "text/csv"]) {
      const response = await get(`acme/statement?${query}`, { accept });
      const error = expectEnvelope(await response.text());
      expect({ status: response.status, param: error["param"] }).toEqual({ status: 400, param });
    }
  });

  test("it is its owner's alone, in both forms", async () => {
    await world.management.account("neighbour", 5n);
    const { secret } = await world.management.makeKey("neighbour", { scopes: ["usage"] });
    for (const path of ["acme/statement", "acme/statement?format=csv", "nobody/statement?format=csv"]) {
      const response = await get(path, { authorization: `Bearer ${secret}` });
      expect(response.status, path).toBe(404);
      expectEnvelope(await response.text());
    }
    const own = await get("neighbour/statement?format=csv", { authorization: `Bearer ${secret}` });
    expect(own.status).toBe(200);
    // Who may not ask at all learns nothing of what is wrong with the question.
    expect((await get("acme/statement?format=xml", { authorization: "Bearer sk-nobody" })).status).toBe(401);
  });
});

test("the command line prints the same statement for people and as CSV, and exports its entries", async () => {
  world = await startWorld();
  try {
    await postChat(world.front, world.secret, chat("Hello"));
    await expect.poll(async () => (await world.management.balance("acme")).spentNanos).toBeGreaterThan(0n);
    const run = (...args: string[]): ReturnType<typeof tollgate> =>
      tollgate(["account", "statement", "acme", ...args], {
        TOLLGATE_GATEWAY: world.core.grpc,
        TOLLGATE_OPERATOR_KEY: OPERATOR_KEY,
      });
    const [table, csv, json, future, both] = await Promise.all([
      run(),
      run("--csv"),
      run("--json"),
      run("--from", "2099-01-01"),
      run("--csv", "--json"),
    ]);
    expect(table.stdout).toMatch(/opening[^]+credit +100\.00[^]+hold +-[\d.]+[^]+settle[^]+closing/);
    expect(csv.stdout).toBe(await (await get("acme/statement?format=csv")).text());
    expect(JSON.parse(json.stdout)).toEqual((await jsonPages("page_size=100"))[0]);
    const { availableNanos } = await world.management.balance("acme");
    const lines = future.stdout.trim().split("\n");
    expect(lines).toHaveLength(3);
    for (const line of lines.slice(1)) expect(nanos(line.split(/ +/).at(-2)!)).toBe(availableNanos);
    expect(both).toMatchObject({ code: 2, stdout: "" });
    const env = { TOLLGATE_GATEWAY: world.core.grpc, TOLLGATE_OPERATOR_KEY: OPERATOR_KEY };
    const [exported, spreadsheet, none] = await Promise.all([
      tollgate(["export", "entries", "--format", "jsonl"], env),
      tollgate(["export", "entries", "--account", "acme"], env),
      tollgate(["export", "entries", "--account", "nobody"], env),
    ]);
    expect(exported.stdout).toBe(await (await get("acme/statement?format=jsonl")).text());
    const rows = readCsv(spreadsheet.stdout);
    expect(rows.map(([account, , , kind]) => `${account} ${kind}`)).toEqual([
      "account_id kind",
      ...["credit", "hold", "settle"].map((kind) => `acme ${kind}`),
    ]);
    expect(none).toMatchObject({ stdout: "" });
    expect(none.code).not.toBe(0);
  } finally {
    await world.close();
  }
});
