/**
 * Jobs and sessions in a process that is killed again and again: each line is charged once, and what it cost. A few
 * kills with all tests, a thousand with `npm run kill-loop:spans`.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { Ledger } from "../../src/ledger/ledger.js";
import { partId } from "../../src/ledger/transfer.js";
import { openSqliteStore } from "../../src/store/sqlite/store.js";
import { TEST_ACT } from "../support/acts.js";
import { javascriptOf } from "../support/javascript-of.js";
import { randomOf } from "../support/random.js";
import { temporaryDirectory } from "../support/temporary-directory.js";
import { costOfLine, JOB_LINES, jobLine } from "./spans.js";

const KILLS = Number(process.env["TOLLGATE_KILLS"] ?? 10);
const SEED = Number(process.env["TOLLGATE_SEED"] ?? 20_261_130);
/** A child is killed after at most so many lines. */
const LINES_MAX = 300;

test(`${KILLS} kills charge each line once (TOLLGATE_SEED=${SEED})`, { timeout: 60_000 + KILLS * 5_000 }, async () => {
  const random = randomOf(SEED);
  const directory = temporaryDirectory();
  await fund(directory);
  const script = fileURLToPath(await javascriptOf(new URL("spans-child.ts", import.meta.url)));
  const open = new Set<string>();
  const charged = new Map<string, string>();
  let jobs = 0;
  for (let kill = 0; kill < KILLS; kill += 1) {
    const child = spawn(process.execPath, [script, directory, String(kill), [...open].join()], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const after = 1 + Math.floor(random() * LINES_MAX);
    for (const line of await linesUntilKilled(child, after)) {
      const [what, id = "", nanos = "", cost] = line.split(" ");
      if (what === "begins") open.add(id);
      if (what === "ended") jobs += Number(open.delete(id));
      if (what !== "charged") continue;
      // Whoever asks again is told the same.
      expect(nanos, line).toBe(cost);
      expect(charged.get(id) ?? nanos, line).toBe(nanos);
      charged.set(id, nanos);
    }
  }
  process.stdout.write(`${KILLS} kills, ${jobs} jobs, ${charged.size} lines and slices, ${open.size} jobs left open\n`);
  expect(jobs).toBeGreaterThan(KILLS);
  await settleRest(directory, open, charged);
});

async function fund(directory: string): Promise<void> {
  const store = await openSqliteStore({ directory });
  await store.accounts.create({ id: "acme", name: "Acme", createTimeMs: 0 }, TEST_ACT);
  const credit = { creditId: "c1", accountId: "acme", amountNanos: 1_000_000_000_000n, nowMs: 1, act: TEST_ACT };
  await store.ledger.commit([{ kind: "credit", ...credit }]);
  await store.close();
}

async function linesUntilKilled(child: ChildProcess, after: number): Promise<readonly string[]> {
  let text = "";
  child.stdout?.setEncoding("utf8").on("data", (piece: string) => {
    text += piece;
    const [, lines = ""] = text.split("ready\n");
    if (lines.split("\n").length > after) child.kill("SIGKILL");
  });
  await once(child, "close");
  expect(child.signalCode).toBe("SIGKILL");
  return text.split("\n").slice(0, -1);
}

/** The jobs that were left are settled to their end. Then nothing is held, and the sums are those of all lines. */
async function settleRest(
  directory: string,
  open: ReadonlySet<string>,
  charged: ReadonlyMap<string, string>,
): Promise<void> {
  const store = await openSqliteStore({ directory });
  const ledger = new Ledger({ store, nodeId: "last", nowMs: () => Date.now() });
  await ledger.start();
  const told = new Map(charged);
  for (const jobId of open) {
    // One whose reserve was never written is none.
    for (let line = 1; line <= JOB_LINES; line += 1) {
      const settled = await ledger.jobs.settle(jobLine(jobId, line)).catch(() => undefined);
      if (settled !== undefined) told.set(partId(jobId, line), String(costOfLine(line)));
    }
    await ledger.jobs.end(jobId);
  }
  for (const [id, nanos] of told) {
    const request = await ledger.requests.get(id);
    expect([request?.state, request?.chargedNanos], id).toEqual(["settled", BigInt(nanos)]);
  }
  const { heldNanos, spentNanos } = await ledger.balance("acme");
  expect(heldNanos).toBe(0n);
  // What no child was told of, and was noted before its kill, recovery charged at its note.
  const sum = [...told.values()].reduce((all, nanos) => all + BigInt(nanos), 0n);
  expect(spentNanos - sum).toBeGreaterThanOrEqual(0n);
  expect(spentNanos - sum).toBeLessThanOrEqual(BigInt(KILLS) * 4n * 7n * 2n);
  expect((await ledger.verify()).problems).toEqual([]);
  await ledger.close();
  await store.close();
}
