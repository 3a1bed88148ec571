/** The nightly files in each database: whole, once for all nodes, made up for where a night was missed. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import type { ExportSettings } from "../../src/config/settings.js";
import { NightlyExport } from "../../src/serve/nightly-export.js";
import type { Store } from "../../src/store/store.js";
import { creditOf, holdOf, NOON_MS, settleOf } from "../ledger/operations.js";
import { TEST_ACT } from "../support/acts.js";
import { onEachStore, openStore } from "../support/stores.js";

const DAY_MS = 86_400_000;
const FORMATS = ["csv", "jsonl", "focus"] as const;
const OF_DAY = (day: string): string[] => [
  `usage-${day}.csv`,
  `usage-${day}.jsonl`,
  `usage-focus-${day}.csv`,
  `entries-${day}.csv`,
  `entries-${day}.jsonl`,
];

let directory: string;
let nowMs: number;
const told: string[] = [];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "tollgate-exports-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  nowMs = NOON_MS;
  told.length = 0;
});

function nightlyOf(store: Store, nodeId = "node_1", settings: ExportSettings = { directory, formats: FORMATS }) {
  const statement: ConstructorParameters<typeof NightlyExport>[0]["ledger"]["statement"] = async (...asked) => {
    const page = await store.ledger.statement(...asked);
    if (page === undefined) throw new Error("there is no such account");
    return page;
  };
  const tell = (_: object, message: string): void => void told.push(message);
  const log = { debug: tell, info: tell, warn: tell, error: tell };
  const ledger = { statement, requests: store.requests };
  return new NightlyExport({ store, ledger, nodeId, settings: () => settings, nowMs: () => nowMs, log });
}

let made = 0;
async function spend(store: Store, costNanos: bigint): Promise<void> {
  const requestId = `request_${(made += 1)}`;
  await store.ledger.commit([holdOf({ requestId, amountNanos: costNanos, nowMs })]);
  await store.ledger.commit([settleOf({ requestId, costNanos, nowMs })]);
}

async function opened(store: Store): Promise<Store> {
  for (const id of ["acme", "other"]) await store.accounts.create({ id, name: id, createTimeMs: nowMs }, TEST_ACT);
  await store.ledger.commit([creditOf(10_000n, { accountId: "acme", nowMs })]);
  await spend(store, 40n);
  await spend(store, 2n);
  return store;
}

const read = (name: string): string => readFileSync(join(directory, name), "utf8");
const files = (): string[] => readdirSync(directory).toSorted();

onEachStore((driver) => {
  test("a day's files are written once it is over, and hold what the ledger has of it", async () => {
    const store = await opened(await openStore(driver));
    const nightly = nightlyOf(store);
    await nightly.look();
    // The day before, of which there is nothing.
    expect(files()).toEqual(OF_DAY("2026-11-20").toSorted());
    nowMs = Date.UTC(2026, 10, 22, 0, 14);
    await nightly.look();
    expect(files()).toHaveLength(5);
    nowMs += 2 * 60_000;
    await spend(store, 5n);
    await nightly.look();
    expect(files()).toEqual([...OF_DAY("2026-11-20"), ...OF_DAY("2026-11-21")].toSorted());
    const [sum, ...more] = read("usage-2026-11-21.jsonl").trim().split("\n");
    expect(JSON.parse(sum ?? "")).toMatchObject({ account_id: "acme", requests: 2, cost_nanos: "42" });
    expect(more).toEqual([]);
    const entries = read("entries-2026-11-21.jsonl")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as object);
    expect(entries).toMatchObject([
      { account_id: "acme", kind: "credit", available_nanos: "10000" },
      ...["hold", "settle", "hold", "settle"].map((kind) => ({ account_id: "acme", kind })),
    ]);
    expect(entries.at(-1)).toMatchObject({ available_nanos: "9958", held_nanos: "0" });
    expect(read("entries-2026-11-21.csv").trim().split("\r\n")).toHaveLength(6);
    expect(read("usage-focus-2026-11-21.csv")).toContain("BilledCost");
    await nightly.close();
  });

  test("nights that were missed are made up for, a month at most, and two nodes write each day once", async () => {
    const store = await opened(await openStore(driver));
    await nightlyOf(store).look();
    nowMs += 3 * DAY_MS;
    const nodes = [nightlyOf(store, "node_1"), nightlyOf(store, "node_2")];
    for (let round = 0; round < 4; round += 1) await Promise.all(nodes.map((node) => node.look()));
    const days = ["2026-11-20", "2026-11-21", "2026-11-22", "2026-11-23"];
    expect(files()).toEqual(days.flatMap(OF_DAY).toSorted());
    expect(told).toEqual(days.map(() => "the nightly export is written"));
    nowMs += 50 * DAY_MS;
    await nightlyOf(store).look();
    expect(told).toHaveLength(days.length + 31);
  });

  test("what cannot be written leaves nothing, is said, and is written later over what a crash left", async () => {
    const store = await opened(await openStore(driver));
    const lost = join(directory, "exports");
    const nightly = nightlyOf(store, "node_1", { directory: lost, formats: ["csv"] });
    expect(await nightly.look()).toBe(false);
    expect(told).toEqual([expect.stringContaining("failed")]);
    mkdirSync(lost);
    writeFileSync(join(lost, ".usage-2026-11-20.csv.part"), "half a li");
    // The next look may be another node's; this one's turn ends with it.
    expect(await nightly.look()).toBe(true);
    expect(readdirSync(lost).toSorted()).toEqual(["entries-2026-11-20.csv", "usage-2026-11-20.csv"]);
    expect(readFileSync(join(lost, "usage-2026-11-20.csv"), "utf8")).not.toContain("half");
  });
});
