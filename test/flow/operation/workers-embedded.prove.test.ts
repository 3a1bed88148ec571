/** Workers beside the embedded store: one balance, one limit, one key, and an end of any process is survived. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Callers } from "../../cluster/callers.js";
import { type CountingUpstream, startCountingUpstream } from "../../cluster/upstream.js";
import { tollgate } from "../../support/command.js";
import { type GatewayProcess, OPERATOR_KEY, startGateway } from "../../support/gateway-process.js";
import { Management } from "../../support/management.js";
import { pace } from "../../support/pauses.js";
import { testStore } from "../../support/test-store.js";

const PATIENT = { timeout: 60_000, interval: 50 };
const CALL_NANOS = 10_000n;
/** Three tokens of an answer, at a USD a million. */
const LONG_NANOS = 3_000n;
const PAID = 10;
const PARALLEL = 1_000;
const MODEL = "{ targets: [{ upstream: counting }], context_tokens: 200000, output_tokens_max: 100, price: ";

function settingsFor(url: string): string {
  return [
    `upstreams: { counting: { family: openai-compatible, base_url: "${url}" } }`,
    "models:",
    `  paid-1: ${MODEL}{ input: "0", output: "0", request: "0.00001" } }`,
    `  dear-1: ${MODEL}{ input: "0", output: "1", request: "0" } }`,
    "",
  ].join("\n");
}

test("a data directory whose name is too long for a socket is refused in one line", async () => {
  const data = `/tmp/${"a".repeat(120)}`;
  const refused = await tollgate(["serve"], { TOLLGATE_WORKERS: "2", TOLLGATE_DATA: data });
  expect(refused.code).toBe(3);
  expect(refused.stderr.trim().split("\n")).toHaveLength(1);
  expect(refused.stderr).toContain("is too long for the socket that several workers need");
});

describe.skipIf(testStore !== "sqlite")("two workers beside the embedded store", () => {
  let upstream: CountingUpstream;
  let gateway: GatewayProcess;
  let management: Management;
  const callers = new Callers();

  beforeAll(async () => {
    upstream = await startCountingUpstream("127.0.0.1");
    gateway = await startGateway({ settings: settingsFor(upstream.url), env: { TOLLGATE_WORKERS: "2" } });
    // The upstream counts, and says no more than it must.
    gateway.expectOddAnswers();
    management = new Management(gateway);
  });
  afterAll(async () => {
    await callers.close();
    await gateway.kill();
    await upstream.close();
  });

  /** The processes of which the one that keeps them said so. */
  function pidsOf(message: string): number[] {
    return linesOf(message).map((line) => (JSON.parse(line) as { pid: number }).pid);
  }

  function linesOf(message: string): string[] {
    return gateway.log.filter((line) => line.includes(`"msg":"${message}"`));
  }

  /** Over a connection of its own, so that any worker may answer; as a caller that comes again when told to. */
  async function chat(secret: string, user: string, more: Readonly<Record<string, unknown>> = {}): Promise<Response> {
    const { idempotencyKey, ...body } = more;
    return fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${secret}`,
        "content-type": "application/json",
        connection: "close",
        ...(idempotencyKey === undefined ? {} : { "idempotency-key": String(idempotencyKey) }),
      },
      body: JSON.stringify({ model: "paid-1", messages: [{ role: "user", content: "Is it so?" }], user, ...body }),
    });
  }

  async function insist(secret: string, user: string): Promise<number> {
    for (;;) {
      const { status, retryMs } = await callers.chat(gateway.url, secret, user);
      if (status === 200 || (status >= 400 && retryMs === 0)) return status;
      await pace(Math.max(retryMs, 20));
    }
  }

  test("of 1,000 parallel calls for a balance of 10, exactly ten are served and charged", async () => {
    await expect.poll(() => pidsOf("a worker serves"), PATIENT).toHaveLength(2);
    const before = 7;
    await management.account("ten", CALL_NANOS * BigInt(PAID + before));
    const { secret } = await management.makeKey("ten");
    // They leave leases at both.
    for (let call = 0; call < before; call += 1) expect((await chat(secret, `before-${call}`)).status).toBe(200);
    const statuses = await Promise.all(Array.from({ length: PARALLEL }, (_, call) => insist(secret, `ten-${call}`)));
    expect(statuses.filter((status) => status === 200)).toHaveLength(PAID);
    expect(statuses.filter((status) => status === 402)).toHaveLength(PARALLEL - PAID);
    const balance = await management.balance("ten");
    expect(balance.spentNanos).toBe(CALL_NANOS * BigInt(PAID + before));
    expect(balance).toMatchObject({ availableNanos: 0n, heldNanos: 0n });
    expect([...upstream.served.keys()].filter((user) => user.startsWith("ten-"))).toHaveLength(PAID);
  });

  test("both are listed, a limit is one limit, and a revoked key is refused by each at once", async () => {
    // Each worker learns of the other with a beat of its own.
    await expect.poll(async () => (await management.call("GET", "/nodes")).body["nodes"], PATIENT).toHaveLength(2);
    await management.account("limited", CALL_NANOS * 1_000n);
    const { secret, id } = await management.makeKey("limited", { requests_per_minute: 20 });
    const statuses = await Promise.all(
      Array.from({ length: 40 }, async (_, call) => (await chat(secret, `limited-${call}`)).status),
    );
    expect(statuses.filter((status) => status === 200)).toHaveLength(20);
    expect(statuses.filter((status) => status === 429)).toHaveLength(20);
    expect((await management.call("DELETE", `/keys/${id}`)).status).toBe(200);
    for (let call = 0; call < 8; call += 1) expect((await chat(secret, "revoked")).status).toBe(401);
  });

  test("a stream is read on and ended through any worker", async () => {
    await management.account("streams", CALL_NANOS * 1_000n);
    const { secret } = await management.makeKey("streams");
    const headers = { authorization: `Bearer ${secret}`, connection: "close" };
    const start = (seed: number): Promise<Response> =>
      fetch(`${gateway.url}/v1/chat/completions`, {
        method: "POST",
        headers: { ...headers, "content-type": "application/json", "x-tollgate-resumable": "1" },
        body: JSON.stringify({
          model: "paid-1",
          messages: [{ role: "user", content: "Is it so?" }],
          stream: true,
          user: `stream-${seed}`,
          seed,
        }),
      });
    const response = await start(700);
    const path = (one: Response): string => `${gateway.url}/v1/streams/${one.headers.get("x-request-id")}`;
    const read = (): Promise<string> => fetch(path(response), { headers }).then((answer) => answer.text());
    const [whole, ...others] = await Promise.all([response.text(), ...Array.from({ length: 8 }, read)]);
    expect(whole).toContain("[DONE]");
    expect(new Set(others)).toEqual(new Set([whole]));
    for (let trial = 1; trial <= 4; trial += 1) {
      const running = await start(60_000 + trial);
      const ended = await fetch(path(running), { method: "DELETE", headers });
      expect([ended.status, await ended.json()]).toMatchObject([200, { cancelled: true }]);
      await running.text();
    }
  });

  test("an Idempotency-Key runs once, whichever worker is asked", async () => {
    await management.account("once", CALL_NANOS * 1_000n);
    const { secret } = await management.makeKey("once");
    const answers = await Promise.all(
      Array.from({ length: 16 }, () => chat(secret, "once", { idempotencyKey: "the same", seed: 300 })),
    );
    for (const { status } of answers) expect([200, 503]).toContain(status);
    for (let call = 0; call < 6; call += 1) {
      const again = await chat(secret, "once", { idempotencyKey: "the same", seed: 300 });
      expect(again.status).toBe(200);
      expect(again.headers.get("idempotent-replayed")).toBe("true");
    }
    expect(upstream.served.get("once")).toBe(1);
    expect((await management.balance("once")).spentNanos).toBe(CALL_NANOS);
  });

  test("an upstream that one worker is told to drain is drained at each, until one is told to end that", async () => {
    await management.account("drained", CALL_NANOS * 1_000n);
    const { secret } = await management.makeKey("drained");
    const order = (word: string) =>
      tollgate(["upstreams", word, "counting"], {
        TOLLGATE_GATEWAY: gateway.grpc,
        TOLLGATE_OPERATOR_KEY: OPERATOR_KEY,
      });
    const [all, none] = [{ drained: 16 }, { healthy: 16 }];
    for (const [word, health, status] of [
      ["drain", all, 503],
      ["undrain", none, 200],
      ["drain", all, 503],
      ["reset", none, 200],
    ] as const) {
      expect(await order(word)).toMatchObject({ code: 0, stderr: "" });
      await expect.poll(healthAtEach, PATIENT).toEqual(health);
      const statuses: number[] = [];
      for (let call = 0; call < 8; call += 1) statuses.push((await chat(secret, `${word}-${call}`)).status);
      expect(new Set(statuses), word).toEqual(new Set([status]));
    }
    expect([...upstream.served.keys()].filter((user) => user.startsWith("drain-"))).toEqual([]);
  });

  /** How often the upstream had which health, asked as often as reaches both workers, over a connection each time. */
  async function healthAtEach(): Promise<Record<string, number>> {
    const found: Record<string, number> = {};
    const headers = { authorization: `Bearer ${OPERATOR_KEY}`, connection: "close" };
    for (let call = 0; call < 16; call += 1) {
      const response = await fetch(`${gateway.url}/api/v1/upstreams`, { headers });
      const { upstreams } = (await response.json()) as { upstreams: { id: string; health: string }[] };
      const { health = "" } = upstreams.find(({ id }) => id === "counting") ?? {};
      found[health] = (found[health] ?? 0) + 1;
    }
    return found;
  }

  test("what a worker that is killed held and leased is free again, and another takes its place", async () => {
    await management.account("orphans", CALL_NANOS * 1_000_000n);
    const { secret } = await management.makeKey("orphans");
    for (let call = 0; call < 6; call += 1) expect((await chat(secret, `lease-${call}`)).status).toBe(200);
    const running = Array.from({ length: 8 }, (_, call) =>
      chat(secret, `long-${call}`, { model: "dear-1", seed: 3_000 }).then(
        (response) => response.status,
        () => 0,
      ),
    );
    await expect.poll(async () => (await management.balance("orphans")).heldNanos > 0n, PATIENT).toBe(true);
    process.kill(pidsOf("a worker serves")[1] ?? 0, "SIGKILL");
    await expect.poll(() => pidsOf("a worker serves"), PATIENT).toHaveLength(3);
    const statuses = await Promise.all(running);
    const served = statuses.filter((status) => status === 200).length;
    expect(statuses.filter((status) => status === 0)).toHaveLength(statuses.length - served);
    expect(served).toBeLessThan(statuses.length);
    const spentNanos = CALL_NANOS * 6n + LONG_NANOS * BigInt(served);
    await expect.poll(() => management.balance("orphans"), PATIENT).toMatchObject({ heldNanos: 0n, spentNanos });
    await management.verify();
  });

  test("all begin anew where the owner of the database is killed, and the ledger holds", async () => {
    const { secret } = await management.makeKey("orphans");
    expect((await chat(secret, "before")).status).toBe(200);
    const [owner = 0] = pidsOf("the owner of the workers' database is there");
    process.kill(owner, "SIGKILL");
    await expect.poll(() => pidsOf("a worker serves"), PATIENT).toHaveLength(5);
    expect(pidsOf("the owner of the workers' database is there")).toHaveLength(2);
    // A port that nobody chose is another one, once nobody has it any more.
    gateway = { ...gateway, url: `http://${JSON.parse(linesOf("ready").at(-1) ?? "{}").http}` };
    management = new Management(gateway);
    for (let call = 0; call < 4; call += 1) expect((await chat(secret, `after-${call}`)).status).toBe(200);
    await management.verify();
  });

  test("a signal to the first process ends all, the owner last", async () => {
    const running = [
      ...pidsOf("a worker serves").slice(-2),
      pidsOf("the owner of the workers' database is there")[1] ?? 0,
    ];
    expect(await gateway.stop()).toBe(0);
    for (const pid of running) expect(() => process.kill(pid, 0)).toThrow("ESRCH");
    const again = await startGateway({ dataDirectory: gateway.dataDirectory, settings: settingsFor(upstream.url) });
    await new Management(again).verify();
    await again.stop();
  });
});
