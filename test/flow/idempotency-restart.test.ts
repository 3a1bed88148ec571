/** Idempotency-Keys over the end of a process: stored answers come again, and a crash never charges a key twice. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { formatMoney } from "../../src/money.js";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { chat, postChat, readAll } from "../support/chat-call.js";
import { type FakeUpstream, script, startFakeUpstream } from "../support/fake-upstream.js";
import { type GatewayProcess, startGateway } from "../support/gateway-process.js";
import { Management } from "../support/management.js";
import { readMetrics } from "../support/metrics-reading.js";
import { testStore } from "../support/test-store.js";
import { settingsFor } from "../support/world.js";

const COST_NANOS = 500n;
/** Where nodes share a database, one that was killed is dead to the others once they heard nothing of it for 15 s. */
const LAPSE = { timeout: testStore === "postgres" ? 60_000 : 5_000 };
const TIMEOUT_MS = 60_000 + LAPSE.timeout;

describe("an Idempotency-Key over a restart", { timeout: TIMEOUT_MS }, () => {
  let upstream: FakeUpstream;
  beforeAll(async () => {
    upstream = await startFakeUpstream();
  });
  afterAll(() => upstream.close());

  const post = (gateway: GatewayProcess, secret: string, body: unknown): Promise<Response> =>
    postChat(gateway, secret, body, { headers: { "idempotency-key": "order 1" } });

  async function start(failpoints: string): Promise<{ gateway: GatewayProcess; secret: string }> {
    const env: Record<string, string> = failpoints === "" ? {} : { TOLLGATE_FAILPOINTS: failpoints };
    const gateway = await startGateway({ settings: settingsFor(upstream.url), env });
    const management = new Management(gateway);
    await management.account("acme", 100_000_000n);
    return { gateway, secret: (await management.makeKey("acme")).secret };
  }

  const restart = (before: GatewayProcess): Promise<GatewayProcess> =>
    startGateway({ settings: settingsFor(upstream.url), dataDirectory: before.dataDirectory });

  const spent = async (gateway: GatewayProcess): Promise<bigint> =>
    (await new Management(gateway).balance("acme")).spentNanos;

  test.each([
    { form: "whole", body: chat("Hello"), stop: "stop" as const },
    { form: "streamed", body: chat("Hello", { stream: true }), stop: "kill" as const },
  ])("answers the same again, $form, after a $stop", async ({ body, stop }) => {
    const { gateway, secret } = await start("");
    const calls = upstream.requests.length;
    const text = await post(gateway, secret, body).then((response) => response.text());
    // The second one waits for nothing: it proves only that the key is known.
    expect(await post(gateway, secret, body).then((response) => response.text())).toBe(text);
    // The answer is told before it is stored; the metric says when it was.
    await expect.poll(() => storedBytes(gateway, secret, body)).toBe(true);
    // What a kill takes of the last moments before it is nobody's: a balance is told once all of it is on the disk.
    await expect.poll(() => spent(gateway)).toBe(COST_NANOS);
    await gateway[stop]();
    const after = await restart(gateway);
    const again = await post(after, secret, body);
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect(await again.text()).toBe(text);
    expect((await post(after, secret, chat("Goodbye"))).status).toBe(422);
    expect(upstream.requests.length - calls).toBe(1);
    expect(await spent(after)).toBe(COST_NANOS);
    await after.stop();
  });

  test("keeps nothing that can be read without the client's key", async () => {
    const { gateway, secret } = await start("");
    const word = "Zwetschgenknoedel";
    await post(gateway, secret, chat(script({ text: word }))).then(readAll);
    await gateway.stop();
    for (const name of ["answers.db", "answers.db-wal"]) {
      const bytes = readOrNothing(join(gateway.dataDirectory, name));
      expect(bytes.includes(word)).toBe(false);
      expect(bytes.includes("order 1")).toBe(false);
    }
    const after = await restart(gateway);
    expect(await post(after, secret, chat(script({ text: word }))).then(readAll)).toContain(word);
    expect(upstream.requests.filter((request) => request.raw.includes(word))).toHaveLength(1);
    await after.stop();
  });

  test("is refused, and not charged again, where a crash lost an answer that was charged", async () => {
    const { gateway, secret } = await start("before_settle=kill");
    // Long enough to be checkpointed, which is what recovery charges.
    const body = chat(script({ words: 400, eventDelayMs: 4 }), { stream: true });
    await post(gateway, secret, body).then(readAll, () => undefined);
    const after = await restart(gateway);
    await expect.poll(() => spent(after), LAPSE).toBeGreaterThan(0n);
    const before = await spent(after);
    const calls = upstream.requests.length;
    const again = await post(after, secret, body);
    expect(again.status).toBe(409);
    expect(again.headers.get("x-should-retry")).toBe("false");
    expect(await again.json()).toMatchObject({
      error: { code: "answer_gone", message: expect.stringContaining(`was charged ${formatMoney(before)},`) },
    });
    expect(upstream.requests.length).toBe(calls);
    expect(await spent(after)).toBe(before);
    await after.stop();
  });

  test("runs again where a crash came before anything was charged", async () => {
    const { gateway, secret } = await start("after_hold_commit=kill");
    await post(gateway, secret, chat("Hello")).then(readAll, () => undefined);
    const after = await restart(gateway);
    const status = (): Promise<number> => post(after, secret, chat("Hello")).then((response) => response.status);
    await expect.poll(status, LAPSE).toBe(200);
    expect(await spent(after)).toBe(COST_NANOS);
    await new Management(after).verify();
    await after.stop();
  });

  test("of a request that a stop ended is told what that cost", async () => {
    const { gateway, secret } = await start("");
    const body = chat(script({ words: 400, eventDelayMs: 20 }), { stream: true });
    const leaving = new AbortController();
    const response = await postChat(gateway, secret, body, {
      headers: { "idempotency-key": "order 1" },
      signal: leaving.signal,
    });
    const reader = response.body!.getReader();
    for (let bytes = 0; bytes < 2_000;) bytes += (await reader.read()).value?.length ?? 2_000;
    leaving.abort();
    await gateway.stop();
    const after = await restart(gateway);
    expect(await spent(after)).toBeGreaterThan(0n);
    const again = await post(after, secret, body);
    expect(again.status).toBe(409);
    expect(await again.text()).toContain("answer_gone");
    await after.stop();
  });
});

/** True once the answer comes from the disk: nothing of it is in memory any more. */
async function storedBytes(gateway: GatewayProcess, secret: string, body: unknown): Promise<boolean> {
  await postChat(gateway, secret, body, { headers: { "idempotency-key": "order 1" } }).then(readAll);
  return (await readMetrics(gateway)).value('tollgate_kept_answer_bytes{place="memory"}') === 0;
}

function readOrNothing(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch {
    return Buffer.alloc(0);
  }
}
