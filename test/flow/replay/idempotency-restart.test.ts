/** Idempotency-Keys over the end of a process: stored answers come again, and a crash never charges a key twice. */
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { formatMoney } from "../../../src/base/money.js";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { chat, postChat, readAll } from "../../support/chat-call.js";
import { type FakeUpstream, script, startFakeUpstream } from "../../support/fake-upstream.js";
import { type GatewayProcess, startGateway } from "../../support/gateway-process.js";
import { Management } from "../../support/management.js";
import { readMetrics } from "../../support/metrics-reading.js";
import { settingsFor } from "../../support/world.js";

const COST_NANOS = 500n;
/** Where nodes share a database, one that was killed is dead to the others once they heard nothing of it for 15 s. */
const LAPSE = { timeout: 90_000 };
const SOON = { timeout: 60_000, interval: 50 };

describe("an Idempotency-Key over a restart", () => {
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
    return { gateway, secret: await open(gateway, "acme") };
  }

  const open = async (gateway: GatewayProcess, account: string): Promise<string> => {
    const management = new Management(gateway);
    await management.account(account, 100_000_000n);
    return (await management.makeKey(account)).secret;
  };

  const restart = (before: GatewayProcess): Promise<GatewayProcess> =>
    startGateway({ settings: settingsFor(upstream.url), dataDirectory: before.dataDirectory });

  const spent = async (gateway: GatewayProcess, account = "acme"): Promise<bigint> =>
    (await new Management(gateway).balance(account)).spentNanos;

  /** Asks before the end of a process, and returns what must hold of the next one. */
  async function answered(
    gateway: GatewayProcess,
    secret: string,
    account: string,
    body: unknown,
  ): Promise<(after: GatewayProcess) => Promise<void>> {
    const calls = upstream.requests.length;
    const text = await post(gateway, secret, body).then((response) => response.text());
    // The second one waits for nothing: it proves only that the key is known.
    expect(await post(gateway, secret, body).then((response) => response.text())).toBe(text);
    // The answer is told before it is stored; the metric says when it was.
    await vi.waitFor(async () => expect(await storedBytes(gateway, secret, body)).toBe(true), SOON);
    // What a kill takes of the last moments before it is nobody's: a balance is told once all of it is on the disk.
    await vi.waitFor(async () => expect(await spent(gateway, account)).toBe(COST_NANOS), SOON);
    expect(upstream.requests.length - calls).toBe(1);
    return async (after) => {
      const later = upstream.requests.length;
      const again = await post(after, secret, body);
      expect(again.headers.get("idempotent-replayed")).toBe("true");
      expect(await again.text()).toBe(text);
      expect((await post(after, secret, chat("Goodbye"))).status).toBe(422);
      expect(upstream.requests.length).toBe(later);
      expect(await spent(after, account)).toBe(COST_NANOS);
    };
  }

  describe("whose process stops", () => {
    const WORD = "Zwetschgenknoedel";
    const SECRET_BODY = chat(script({ text: WORD }));
    const RUNNING_BODY = chat(script({ words: 400, eventDelayMs: 20 }), { stream: true });
    let expectSame: (after: GatewayProcess) => Promise<void>;
    /** What the process that stopped left of its answers. */
    let files: readonly Buffer[];
    let after: GatewayProcess;
    let secretOf: Readonly<Record<"acme" | "quiet" | "running", string>>;
    beforeAll(async () => {
      const before = await startGateway({ settings: settingsFor(upstream.url) });
      const [acme, quiet, running] = [
        await open(before, "acme"),
        await open(before, "quiet"),
        await open(before, "running"),
      ];
      secretOf = { acme, quiet, running };
      expectSame = await answered(before, acme, "acme", chat("Hello"));
      await post(before, quiet, SECRET_BODY).then(readAll);
      const leaving = new AbortController();
      const response = await postChat(before, running, RUNNING_BODY, {
        headers: { "idempotency-key": "order 1" },
        signal: leaving.signal,
      });
      const reader = response.body!.getReader();
      for (let bytes = 0; bytes < 2_000;) bytes += (await reader.read()).value?.length ?? 2_000;
      leaving.abort();
      await before.stop();
      files = ["answers.db", "answers.db-wal"].map((name) => readOrNothing(join(before.dataDirectory, name)));
      after = await restart(before);
    });
    afterAll(() => after.stop());

    test("keeps nothing that can be read without the client's key", async () => {
      for (const bytes of files) {
        expect(bytes.includes(WORD)).toBe(false);
        expect(bytes.includes("order 1")).toBe(false);
      }
      expect(await post(after, secretOf.quiet, SECRET_BODY).then(readAll)).toContain(WORD);
      expect(upstream.requests.filter((request) => request.raw.includes(WORD))).toHaveLength(1);
    });

    test("answers the same again", () => expectSame(after));

    test("tells of a request that the stop ended what that cost", async () => {
      expect(await spent(after, "running")).toBeGreaterThan(0n);
      const again = await post(after, secretOf.running, RUNNING_BODY);
      expect(again.status).toBe(409);
      expect(await again.text()).toContain("answer_gone");
    });
  });

  test("answers the same again, streamed, after a kill", async () => {
    const { gateway, secret } = await start("");
    const expectSame = await answered(gateway, secret, "acme", chat("Hello", { stream: true }));
    await gateway.kill();
    const after = await restart(gateway);
    await expectSame(after);
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
