/** How long an Idempotency-Key leads to its answer: a day, but ten minutes where that is large. */
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Cancellation } from "../../../src/base/cancellation.js";
import { InferenceServiceService, KeySettings, type StreamGenerateResponse } from "../../../src/api/index.js";
import { GatewayError } from "../../../src/base/errors.js";
import { Ask } from "../../../src/gateway/replay/ask.js";
import { Replays } from "../../../src/gateway/replay/replays.js";
import { callerOf } from "../../../src/keys/key-caller.js";
import { AnswerSink } from "../../../src/rpc/call/head.js";
import { Answers } from "../../../src/store/sqlite/answers.js";

const MIB = 1_048_576;
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const COST_NANOS = 7n;
const OLD_ROOT = Buffer.from("a root secret of this test, long enough");
const NEW_ROOT = Buffer.from("the root secret that comes after it");

let directory = "";
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "tollgate-keyed-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const CALLER = callerOf({
  id: "key-1",
  accountId: "acme",
  digest: Buffer.alloc(32),
  previousDigest: null,
  previousUntilMs: null,
  hint: "",
  settings: KeySettings.encode(KeySettings.decode(new Uint8Array())).finish(),
  createTimeMs: 0,
  revokeTimeMs: null,
  makerId: null,
  revision: 1,
});

/** Replays over a real store, of a method whose answer has so many bytes and costs the same each time. */
function setUp(answerBytes: number, nowMs: () => number, rootSecrets: readonly Buffer[] = [OLD_ROOT]) {
  let runs = 0;
  let memoryBytes = 0;
  const lost: unknown[] = [];
  const onError = (error: unknown): void => void lost.push(error);
  const replays = new Replays({
    store: new Answers({ directory, nowMs, onSwept: () => undefined, onError }),
    rootSecrets,
    randomBytes,
    nowMs,
    requestOf: async () => ({ accountId: "acme", state: "settled", costNanos: COST_NANOS }),
    onBytes: (used) => (memoryBytes = used),
    onLost: onError,
  });
  const source = Buffer.alloc(answerBytes, "a");
  /** How the call was answered: by a run, by the stored answer, or with the reason of a refusal. */
  const call = async (key = "order 1"): Promise<string> => {
    const metadata = { "idempotency-key": key };
    const ask = new Ask<unknown, unknown>(
      InferenceServiceService.streamGenerate as never,
      { generation: undefined, acceptWire: "" },
      metadata,
    );
    const requestId = `req_${runs}`;
    let replayed = false;
    let bytes = 0;
    const sink = new AnswerSink<unknown>(requestId, {
      head: (told: Readonly<Record<string, string>>): void => void (replayed = "idempotent-replayed" in told),
      data: (message: unknown): boolean => {
        bytes += (message as StreamGenerateResponse).source.length;
        return true;
      },
      onDrain: (): void => undefined,
    });
    const asked = { caller: CALLER, requestId, signal: new Cancellation() };
    try {
      await replays.serve(ask, asked, sink, async ({ beforeHold }, out) => {
        runs += 1;
        await beforeHold?.();
        out.head({});
        out.data({ events: [], source });
      });
    } catch (error) {
      return GatewayError.from(error).reason;
    }
    expect(bytes).toBe(answerBytes);
    return replayed ? "replayed" : "run";
  };
  // What is stored takes no memory any more.
  const stored = (): boolean => memoryBytes === 0;
  return { call, stored, close: () => replays.close(), lost };
}

test.each([
  { name: "of 4 MiB, with what stands around it", bytes: 4 * MIB - 1_024, keptMs: DAY_MS, after: "run" },
  { name: "a little larger", bytes: 4 * MIB, keptMs: 10 * MINUTE_MS, after: "ERROR_REASON_ANSWER_GONE" },
  { name: "of almost 16 MiB", bytes: 16 * MIB - 1_024, keptMs: 10 * MINUTE_MS, after: "ERROR_REASON_ANSWER_GONE" },
  { name: "above 16 MiB", bytes: 16 * MIB, keptMs: 0, after: "ERROR_REASON_ANSWER_GONE" },
])("an answer $name is kept $keptMs ms, and the key for a day", async ({ bytes, keptMs, after }) => {
  let nowMs = 1_000_000;
  const startMs = nowMs;
  const { call, stored, close, lost } = setUp(bytes, () => nowMs);
  expect(await call()).toBe("run");
  await expect.poll(stored).toBe(true);
  if (keptMs > 0) {
    expect(await call()).toBe("replayed");
    nowMs = startMs + keptMs - 1;
    expect(await call()).toBe("replayed");
  }
  nowMs = startMs + keptMs;
  expect(await call()).toBe(after);
  nowMs = startMs + DAY_MS - 1;
  expect(await call()).toBe(after === "run" ? "replayed" : after);
  if (after !== "run") {
    nowMs = startMs + DAY_MS;
    // Of an answer without a record nothing shows when its key was written for the last time.
    await expect.poll(() => call()).toBe("run");
  }
  await close();
  expect(lost).toEqual([]);
});

test.each([
  { name: "told of the next", rootSecrets: [OLD_ROOT, NEW_ROOT] },
  { name: "taking over", rootSecrets: [NEW_ROOT, OLD_ROOT] },
])("while the root secret is rotated, a node $name reads and writes answers as both sides know them", async (some) => {
  const before = setUp(100, () => 1_000_000, [OLD_ROOT]);
  expect(await before.call("kept before")).toBe("run");
  await expect.poll(before.stored).toBe(true);
  await before.close();
  const between = setUp(100, () => 1_000_000, some.rootSecrets);
  expect(await between.call("kept before")).toBe("replayed");
  expect(await between.call("kept between")).toBe("run");
  await expect.poll(between.stored).toBe(true);
  expect(await between.call("kept between")).toBe("replayed");
  await between.close();
  for (const rootSecrets of [[OLD_ROOT], [NEW_ROOT]]) {
    const apart = setUp(100, () => 1_000_000, rootSecrets);
    expect(await apart.call("kept between")).toBe("replayed");
    await apart.close();
  }
});
