/** What the database keeps when its process dies, and what it does when the disk fails. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { openSqliteStore } from "../../src/store/sqlite/store.js";
import type { Store } from "../../src/store/store.js";
import { NOON_MS, creditOf } from "../ledger/operations.js";
import { readWitness } from "../../src/store/witness.js";
import { javascriptOf } from "../support/javascript-of.js";
import { openForTest } from "./directory.js";
import { temporaryDirectory } from "../support/temporary-directory.js";
import { TEST_ACT } from "../support/acts.js";
import { bySweep } from "../support/sweep.js";

const ROUNDS = bySweep({ short: 2, long: 3, all: 3 });
/** A child is killed after so many acknowledgements. */
const LINES = 200;

async function fundedDirectory(): Promise<string> {
  const directory = temporaryDirectory();
  const store = await openSqliteStore({ directory });
  await store.accounts.create({ id: "acme", name: "Acme", createTimeMs: NOON_MS }, TEST_ACT);
  await store.ledger.commit([creditOf(1_000_000_000n)]);
  await store.close();
  return directory;
}

async function startChild(directory: string, round: string, shell = 'exec "$@"'): Promise<ChildProcess> {
  const script = fileURLToPath(await javascriptOf(new URL("crash-child.ts", import.meta.url)));
  return spawn("sh", ["-c", shell, "sh", process.execPath, script, directory, round], {
    stdio: ["ignore", "pipe", "inherit"],
  });
}

/** Gathers whole lines, and calls back on each piece, until the process ends. */
async function linesOf(child: ChildProcess, onPiece: (count: number) => void): Promise<string[]> {
  let text = "";
  child.stdout?.setEncoding("utf8").on("data", (piece: string) => {
    text += piece;
    onPiece(text.split("\n").length - 1);
  });
  await once(child, "close");
  return text.split("\n").slice(0, -1);
}

/** The transfers of the account with their sequences. */
async function transferIds(store: Store): Promise<Map<string, number>> {
  const ids = new Map<string, number>();
  let token = "";
  do {
    const page = await store.ledger.entries("acme", { size: 1000, token });
    for (const { id, sequence } of page.rows) ids.set(id, sequence);
    token = page.nextPageToken;
  } while (token !== "");
  return ids;
}

describe("a process that is killed", () => {
  test("loses nothing that it acknowledged, its witness knows of it, and its ledger holds", async () => {
    const directory = await fundedDirectory();
    const acknowledged: string[] = [];
    let witnessed = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      const child = await startChild(directory, `round${round}`);
      acknowledged.push(...(await linesOf(child, (count) => count >= LINES && child.kill("SIGKILL"))));
      expect(child.signalCode).toBe("SIGKILL");
      // A witness that knows more than the database is what a loss looks like, and would stop the next start.
      const note = readWitness(join(directory, "witness.json"));
      witnessed = typeof note === "object" ? note.head.sequence : 0;
    }
    expect(acknowledged.length).toBeGreaterThanOrEqual(ROUNDS * LINES);
    const store = await openForTest({ directory });
    const ids = await transferIds(store);
    expect(acknowledged.filter((id) => !ids.has(id))).toEqual([]);
    expect(acknowledged.filter((id) => (ids.get(id) ?? 0) > witnessed)).toEqual([]);
    expect((await store.ledger.verify()).problems).toEqual([]);
    await store.ledger.commit([{ kind: "recover", nodeId: "next", nowMs: NOON_MS, silent: [] }]);
    const report = await store.ledger.verify();
    expect(report).toMatchObject({ problems: [], openHoldCount: 0 });
  });
});

test("a second process cannot open the directory of a first, also after the first tried to open it again", async () => {
  const directory = await fundedDirectory();
  await openForTest({ directory });
  // A process that opens and closes a file loses all its locks on it, unless it goes through SQLite.
  await expect(openSqliteStore({ directory })).rejects.toThrow("is in use by another Tollgate");
  const child = await startChild(directory, "second");
  const lines = await linesOf(child, () => undefined);
  expect(lines).toEqual([`Error: The data directory '${directory}' is in use by another Tollgate.`]);
  expect(child.exitCode).toBe(1);
});

test("an error of the disk ends the process's ledger, and what was acknowledged is kept", async () => {
  const directory = await fundedDirectory();
  // Files may grow to 1 MiB and no more, which is an I/O error to SQLite and not a full disk.
  const child = await startChild(directory, "limited", `trap '' XFSZ; ulimit -f 2048; exec "$@"`);
  const lines = await linesOf(child, () => undefined);
  expect(lines.filter((line) => line.startsWith("fatal"))).toEqual([expect.stringContaining("fatal SQLITE_IOERR")]);
  expect(new Set(lines.filter((line) => line.startsWith("refused")))).toEqual(
    new Set(["refused ERROR_REASON_LEDGER_UNAVAILABLE"]),
  );
  expect(child.exitCode).toBe(3);
  const store = await openForTest({ directory });
  const ids = await transferIds(store);
  const acknowledged = lines.filter((line) => /^[hs]:/.test(line));
  expect(acknowledged.length).toBeGreaterThan(0);
  expect(acknowledged.filter((id) => !ids.has(id))).toEqual([]);
  expect((await store.ledger.verify()).problems).toEqual([]);
});
