/**
 * Old transfers go to files while two workers serve calls of the same accounts: each call is answered, none waits
 * long, the archive's own memory stays small, and all of it is proven afterwards. A few thousand transfers with all
 * tests, half a million with `npm run money:archive`, which alone asserts how long a call may wait.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { LedgerOperation } from "../../src/ledger/operation.js";
import type { Store } from "../../src/store/store.js";
import { readUsed } from "../bench/process-stats.mjs";
import { Callers } from "../cluster/callers.js";
import { percentile, tallyOf } from "../cluster/load.js";
import { creditOf, holdOf, settleOf, voidOf } from "../ledger/operations.js";
import { TEST_ACT } from "../support/acts.js";
import { startFakeUpstream } from "../support/fake-upstream.js";
import { type GatewayProcess, startGateway } from "../support/gateway-process.js";
import { Management } from "../support/management.js";
import { pace } from "../support/pauses.js";
import { programOf } from "../support/program.js";
import { quickDirectory } from "../support/quick-directory.js";
import { OWN_REDIS_MISSING, startRedis } from "../support/redis-server.js";
import { onEachStore } from "../support/stores.js";
import { settingsFor } from "../support/world.js";

const ASKED = process.env["TOLLGATE_ARCHIVE_TRANSFERS"];
const TRANSFERS = Number(ASKED ?? 3_000);
const TIMEOUT_MS = Math.max(180_000, 5 * TRANSFERS);
const ACCOUNTS = ["acme", "other", "third"];
const MONTHS = ["2026-03", "2026-04", "2026-05", "2026-06"];
const STAYS = "2026-06";
const BATCH = 200;
const CALLERS = 6;
const PAUSE_MS = 20;
const CALLS_BEFORE = ASKED === undefined ? 10 * CALLERS : 1_000;
/** How long a call may take beside a large archive, and how much memory a command may have, whatever it archives. */
const CALL_MS_MAX = 1_000;
const COMMAND_BYTES_MAX = 350 * 1024 * 1024;
const LOOK_MS = 20;
const SECRET = "a root secret of this test, long enough";
const BUILD = new URL("../../", import.meta.url).pathname;

/** Credits, and as many requests as make up the rest, in equal parts over the months. Some are freed, some refunded. */
async function fill(store: Store): Promise<void> {
  const startOf = (month: string): number => Date.parse(`${month}-02T00:00:00Z`);
  const firstMs = startOf(MONTHS[0] ?? "");
  for (const id of ACCOUNTS) await store.accounts.create({ id, name: id, createTimeMs: firstMs }, TEST_ACT);
  await store.ledger.commit(
    ACCOUNTS.map((id) => creditOf(10n ** 15n, { accountId: id, creditId: `credit-${id}`, nowMs: firstMs })),
  );
  const requests = Math.ceil(TRANSFERS / 2 / MONTHS.length);
  for (const month of MONTHS)
    for (let first = 0; first < requests; first += BATCH) {
      const numbers = Array.from({ length: Math.min(BATCH, requests - first) }, (_, index) => first + index);
      const steps = numbers.map((number) => lifeOf(month, number, startOf(month)));
      for (const step of [0, 1, 2]) await store.ledger.commit(steps.flatMap((operations) => operations[step] ?? []));
    }
}

function lifeOf(month: string, number: number, nowMs: number): LedgerOperation[] {
  const accountId = ACCOUNTS[number % ACCOUNTS.length] ?? "acme";
  const request = { requestId: `r-${month}-${String(number).padStart(9, "0")}`, nowMs };
  const hold = holdOf({ ...request, accountId, keyId: `key of ${accountId}`, amountNanos: 50n });
  if (number % 20 === 7) return [hold, voidOf(request)];
  const refund = { refundId: request.requestId, amountNanos: 2n, reason: "a test", actor: "key_0", act: TEST_ACT };
  const refunds: LedgerOperation[] = number % 100 === 0 ? [{ kind: "refund", ...request, ...refund }] : [];
  return [hold, settleOf({ ...request, costNanos: 7n }), ...refunds];
}

interface Call {
  readonly tookMs: number;
  readonly status: number;
  readonly code: string;
}

/** Calls of all accounts, over connections to both workers, until they are told to stop. */
class Traffic {
  readonly calls: Call[] = [];
  readonly #callers = new Callers();
  readonly #running: Promise<void>[];
  #isOver = false;

  constructor(url: string, keys: readonly string[]) {
    this.#running = Array.from({ length: CALLERS }, (_, at) => this.#run(url, keys[at % keys.length] ?? "", at));
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#running);
    await this.#callers.close();
  }

  async #run(url: string, key: string, at: number): Promise<void> {
    while (!this.#isOver) {
      const startMs = performance.now();
      const { status, code } = await this.#callers.chat(url, key, `caller ${at}`, { model: "fake-1" });
      this.calls.push({ tookMs: performance.now() - startMs, status, code });
      await pace(PAUSE_MS);
    }
  }
}

interface Ran {
  readonly stdout: string;
  /** The most memory that it had. */
  readonly peakBytes: number;
  readonly tookMs: number;
}

/** The command as a process of its own, which must succeed. */
async function tollgate(args: readonly string[], env: Readonly<Record<string, string>>): Promise<Ran> {
  const startMs = performance.now();
  const child = spawn(process.execPath, [programOf(BUILD), ...args], {
    env: { PATH: process.env["PATH"] ?? "", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [stdout, stderr]: [string[], string[]] = [[], []];
  child.stdout.on("data", (bytes: Buffer) => stdout.push(String(bytes)));
  child.stderr.on("data", (bytes: Buffer) => stderr.push(String(bytes)));
  const ended = once(child, "close");
  let peakBytes = 0;
  const look = setInterval(() => (peakBytes = Math.max(peakBytes, peakOf(child))), LOOK_MS);
  await ended;
  clearInterval(look);
  expect(child.exitCode, [...stdout, ...stderr].join("")).toBe(0);
  return { stdout: stdout.join(""), peakBytes, tookMs: performance.now() - startMs };
}

/** 0 where it is gone. */
function peakOf({ pid = 0 }: ChildProcess): number {
  try {
    return readUsed([pid]).rssPeakBytes;
  } catch {
    return 0;
  }
}

async function keysAt(gateway: GatewayProcess): Promise<string[]> {
  const management = new Management(gateway);
  return Promise.all(ACCOUNTS.map(async (id) => (await management.makeKey(id)).secret));
}

const secondsOf = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
const longestOf = (calls: readonly Call[]): number => calls.reduce((most, { tookMs }) => Math.max(most, tookMs), 0);

function wordsOf(did: string, { tookMs, peakBytes }: Ran): string {
  return `${did} in ${secondsOf(tookMs)} with ${Math.round(peakBytes / 1024 / 1024)} MiB at most`;
}

function waits(calls: readonly Call[]): string {
  const most = percentile(
    calls.map(({ tookMs }) => tookMs),
    0.99,
  );
  return `${Math.round(longestOf(calls))} ms at most (99 of 100 within ${Math.round(most)}, ${calls.length} calls)`;
}

onEachStore((driver) => {
  test.skipIf(driver.id === "postgres" && OWN_REDIS_MISSING !== undefined)(
    `${TRANSFERS} transfers are archived while two workers serve`,
    async () => {
      const parent = mkdtempSync(join(quickDirectory(), "tollgate-archive-"));
      onTestFinished(() => rmSync(parent, { recursive: true, force: true }));
      const place = await driver.place();
      const store = await place.open();
      const filledMs = performance.now();
      await fill(store);
      await store.close();
      const filled = secondsOf(performance.now() - filledMs);

      const redis = driver.id === "postgres" ? await startRedis() : undefined;
      onTestFinished(() => redis?.close());
      const upstream = await startFakeUpstream();
      onTestFinished(() => upstream.close());
      const shared = redis === undefined ? {} : { TOLLGATE_REDIS_URL: redis.url };
      const env = { ...place.env, ...shared, TOLLGATE_SECRET: SECRET };
      const { TOLLGATE_DATA: dataDirectory = parent } = place.env;
      const settings = settingsFor(upstream.url);
      const workers = { TOLLGATE_WORKERS: "2" };
      const gateway = await startGateway({ settings, dataDirectory, env: { ...env, ...workers } });
      onTestFinished(() => gateway.kill());
      const traffic = new Traffic(gateway.url, await keysAt(gateway));
      await expect.poll(() => traffic.calls.length, { timeout: 120_000 }).toBeGreaterThan(CALLS_BEFORE);
      const before = traffic.calls.length;
      const files = join(parent, "files");
      const archived = await tollgate(["store", "archive", "--before", STAYS, "--to", files], env);
      const until = traffic.calls.length;
      const proven = await tollgate(["store", "verify", "--archive", files], env);
      await traffic.stop();
      const count = Number(/(\d+) transfers that are archived were proven/.exec(proven.stdout)?.[1]);
      const { calls } = traffic;
      console.info(
        `${driver.name}: ${TRANSFERS} transfers made in ${filled}, ${count} of them ${wordsOf("archived", archived)},` +
          ` ${wordsOf("proven", proven)}; calls before ${waits(calls.slice(0, before))}, beside the archive` +
          ` ${waits(calls.slice(before, until))}, beside the proof ${waits(calls.slice(until))}; ${tallyOf(calls)}`,
      );
      // All months but the one that stays, without what is refunded, the credits, and what each chain ends with.
      expect(count / TRANSFERS).toBeGreaterThan(0.7);
      expect(calls.filter(({ status }) => status !== 200)).toEqual([]);
      for (const { peakBytes } of [archived, proven]) expect(peakBytes).toBeLessThan(COMMAND_BYTES_MAX);
      if (ASKED !== undefined) expect(longestOf(calls.slice(before))).toBeLessThan(CALL_MS_MAX);
      expect(await gateway.stop()).toBe(0);
    },
    TIMEOUT_MS,
  );
});
