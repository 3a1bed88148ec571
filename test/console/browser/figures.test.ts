/** After many random requests each figure of the pages is that of the ledger, to the last digit. */
import { text as textIn } from "node:stream/consumers";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { count, money } from "../../../console/format.js";
import { formatUsd } from "../../../src/base/money.js";
import { exactTextOf, generate, joinWorld, type World } from "./world.js";

/** `npm run figures` makes 10,000 of them. */
const REQUESTS = Number(process.env["TOLLGATE_FIGURES_REQUESTS"] ?? 300);
const AT_ONCE = 8;
const MODELS = ["sim-1", "sim-small", "sim-free"] as const;

interface Entry {
  readonly request_id: string;
  readonly kind: string;
  readonly amount_nanos: string;
}

interface Sums {
  readonly requests: number;
  readonly nanos: bigint;
}

let world: World;
/** What the ledger charged each request, by its entries. */
const charges = new Map<string, bigint>();
/** What the answers told the clients, by model and by key. */
const byModel = new Map<string, Sums>();
const byKey = new Map<string, Sums>();

beforeAll(async () => {
  world = await joinWorld("figures", 0);
  await world.api("/api/v1/accounts/figures", { settings: { budget_day: "0", budget_month: "0" } }, "PATCH");
  for (const { id } of world.keys)
    await world.api(`/api/v1/keys/${id}`, { settings: { budget_day: "1000000.00" } }, "PATCH");
  await world.api("/api/v1/accounts/figures:credit", { amount: "1000.00", credit_id: "figures" });
  await sendRandom();
  await vi.waitFor(settled, { timeout: 120_000, interval: 500 });
  await readLedger();
}, 3_600_000);
afterAll(() => world.close());

describe("of the ledger are:", () => {
  test("the balance and the spend of the overview, and of billing", async () => {
    const spent = sumOf(charges.values());
    const { available_nanos, spent_nanos } = await balance();
    expect(BigInt(spent_nanos)).toBe(spent);
    const page = await world.open("/?days=1");
    await page.getByRole("heading", { name: "Spend by model" }).waitFor();
    const figures = page.locator(".figures dd.figure data");
    expect(await nanosOf(page, ".figures dd.figure data", 0)).toBe(BigInt(available_nanos));
    expect(await nanosOf(page, ".figures dd.figure data", 1)).toBe(spent);
    expect(await nanosOf(page, ".figures dd.figure data", 2)).toBe(spent);
    expect(await exactTextOf(figures.nth(1))).toBe(money(spent));
    await world.go(page, "/billing");
    await page.getByText("Total spent").waitFor();
    await page.getByText(money(spent)).first().waitFor();
    await page
      .getByText(money(BigInt(available_nanos)))
      .first()
      .waitFor();
    await page.context().close();
  });

  test("the sums of usage by model, by key and together", async () => {
    const page = await world.open("/usage?days=1&by=model");
    await page.getByText("Total", { exact: true }).waitFor();
    for (const [model, { requests, nanos }] of byModel) await hasRow(page, model, requests, nanos);
    await hasRow(page, "Total", REQUESTS, sumOf(charges.values()));
    await world.go(page, "/usage?days=1&by=key");
    await page.getByText("Total", { exact: true }).waitFor();
    for (const [name, { requests, nanos }] of byKey) await hasRow(page, name, requests, nanos);
    await page.context().close();
  });

  test("what each key spent, and how full its budget is", async () => {
    const page = await world.open("/keys");
    for (const { id } of world.keys) {
      const { key } = await world.api<{ key: { settings: { name: string }; figures: { spent_day_nanos: string } } }>(
        `/api/v1/keys/${id}`,
      );
      const spent = byKey.get(key.settings.name)?.nanos ?? 0n;
      expect(BigInt(key.figures.spent_day_nanos)).toBe(spent);
      await world.go(page, `/keys/${id}`);
      await page.getByRole("heading", { name: "Limit usage" }).waitFor();
      await page.getByText(`${money(spent)} of $1,000,000.00`, { exact: true }).waitFor();
      await expect.poll(() => page.getByText(money(spent), { exact: true }).count()).toBe(3);
    }
    await page.context().close();
  });

  test("each request of the log, over all its pages", async () => {
    const page = await world.open("/requests");
    const seen = new Map<string, bigint>();
    let lines: readonly string[] = [];
    const older = page.getByRole("link", { name: "Older" });
    do {
      const [before] = lines;
      if (before !== undefined) await older.click();
      let head = "";
      // The page before is in sight until the next one is there; its file cannot be had meanwhile.
      const read = async (): Promise<string | undefined> => {
        [head = "", ...lines] = (await downloaded(page)).trimEnd().split("\r\n");
        return lines[0];
      };
      await expect.poll(read).not.toBe(before);
      const place = head.split(",").indexOf("charged_nanos");
      for (const line of lines) seen.set(line.split(",")[0] ?? "", BigInt(line.split(",")[place] ?? ""));
    } while ((await older.count()) > 0);
    const charged = new Map([...seen].filter(([, nanos]) => nanos > 0n));
    expect(charged).toEqual(new Map([...charges].filter(([, nanos]) => nanos > 0n)));
    expect(seen.size).toBe(REQUESTS);
    await page.context().close();
  });

  test("the balance after each entry of the statement, which ends at the account's", async () => {
    const page = await world.open("/billing?journal=open");
    await page.getByText("Opening balance").waitFor();
    const [head = "", ...lines] = (await downloaded(page)).trimEnd().split("\n");
    const place = head
      .trim()
      .split(",")
      .findIndex((name) => name.startsWith("available"));
    const last = lines.at(-1)?.split(",") ?? [];
    const { available_nanos } = await balance();
    expect(last.slice(0, place + 1)).toContain(formatUsd(BigInt(available_nanos)));
    await page.context().close();
  });
});

async function sendRandom(): Promise<void> {
  const names = new Map<string, string>();
  for (const { id } of world.keys) {
    const { key } = await world.api<{ key: { settings: { name: string } } }>(`/api/v1/keys/${id}`);
    names.set(id, key.settings.name);
  }
  let left = REQUESTS;
  const send = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const model = MODELS[Math.floor(Math.random() * MODELS.length)] ?? "sim-1";
      const { id, secret } = world.keys[Math.floor(Math.random() * world.keys.length)] ?? { id: "", secret: "" };
      const text = "Count this. ".repeat(1 + Math.floor(Math.random() * 200));
      const most = { max_completion_tokens: 1 + Math.floor(Math.random() * 60) };
      const answer = await generate(world.url, secret, model, text, most);
      await answer.text();
      if (!answer.ok) throw new Error(`a request was refused with ${answer.status}`);
      sentBy.set(answer.headers.get("x-request-id") ?? "", { model, key: names.get(id) ?? "" });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, send));
}

/** An answer waits neither for its settlement nor for its record. Throws while some of them are on their way. */
async function settled(): Promise<void> {
  const { held_nanos } = await world.api<{ held_nanos: string }>("/api/v1/accounts/figures/balance");
  const { sums } = await world.api<{ sums: { request_count: string }[] }>("/api/v1/usage:query?account_id=figures");
  expect([held_nanos, Number(sums[0]?.request_count)]).toEqual(["0", REQUESTS]);
}

const sentBy = new Map<string, { readonly model: string; readonly key: string }>();

/** Reads every entry of the account's month, and adds up what each request was charged. */
async function readLedger(): Promise<void> {
  for (const id of sentBy.keys()) charges.set(id, 0n);
  let token = "";
  do {
    const { entries, next_page_token } = await world.api<{
      entries: { entry: Entry }[];
      next_page_token: string;
    }>(`/api/v1/accounts/figures/statement?page_size=1000&page_token=${encodeURIComponent(token)}`);
    for (const { entry } of entries)
      if (charges.has(entry.request_id) && ["settle", "overage"].includes(entry.kind))
        charges.set(entry.request_id, (charges.get(entry.request_id) ?? 0n) + BigInt(entry.amount_nanos));
    token = next_page_token;
  } while (token !== "");
  for (const [id, nanos] of charges) {
    const { model = "", key = "" } = sentBy.get(id) ?? {};
    for (const [sums, name] of [
      [byModel, model],
      [byKey, key],
    ] as const) {
      const before = sums.get(name) ?? { requests: 0, nanos: 0n };
      sums.set(name, { requests: before.requests + 1, nanos: before.nanos + nanos });
    }
  }
}

async function downloaded(page: Page): Promise<string> {
  const coming = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download CSV" }).click();
  return textIn(await (await coming).createReadStream());
}

async function balance(): Promise<{ readonly available_nanos: string; readonly spent_nanos: string }> {
  return world.api("/api/v1/accounts/figures/balance");
}

/** The whole nano-USD that a page gives with an amount. */
async function nanosOf(page: Page, selector: string, place: number): Promise<bigint> {
  return BigInt((await page.locator(selector).nth(place).getAttribute("value")) ?? "");
}

/** A row of the table of usage has these figures. */
async function hasRow(page: Page, name: string, requests: number, nanos: bigint): Promise<void> {
  const cells = page
    .locator("main tbody tr")
    .filter({ has: page.getByText(name, { exact: true }) })
    .last()
    .locator("td");
  const texts = await Promise.all((await cells.all()).map((cell) => exactTextOf(cell)));
  expect([texts[1], texts.at(-1)], name).toEqual([count(requests), money(nanos)]);
}

function sumOf(values: Iterable<bigint>): bigint {
  return [...values].reduce((sum, value) => sum + value, 0n);
}
