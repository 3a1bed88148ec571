/**
 * How a process leaves a load balancer: SIGTERM says on its probes that it is not ready, it serves whoever comes
 * meanwhile, and a second one, or the end of the time, closes its ports to new requests and lets the running ones end.
 */
import { credentials } from "@grpc/grpc-js";
import { afterEach, expect, test } from "vitest";
import { HealthCheckResponse_ServingStatus as ServingStatus } from "../../../gen/grpc/health/v1/health.js";
import { chat, postChat, readAll } from "../../support/chat-call.js";
import { tollgate } from "../../support/command.js";
import { startGateway, type GatewayProcess } from "../../support/gateway-process.js";
import { HealthClient } from "../../support/grpc-clients.js";
import { Management } from "../../support/management.js";
import { pace } from "../../support/pauses.js";
import { RawClient } from "../../support/raw-http.js";
import { startSteppedUpstream, type SteppedUpstream, stopAfter } from "../../support/stepped-upstream.js";
import { settingsFor } from "../../support/world.js";

const PATIENT = { timeout: 60_000, interval: 50 };
/** The longest that there is: that a process serves on is no matter of being quick. */
const LONG = { TOLLGATE_LAME_DUCK_MS: "600000" };
/** How many come at once as the port closes, each again and again until it is refused. */
const CROWD = 20;
/** How long a newcomer waits, and what it got then. */
const WAIT_MS = 60_000;
const LEFT = "no answer";
const SECRET = { TOLLGATE_SECRET: "a root secret of this test, long enough" };

let upstream: SteppedUpstream;
const processes: GatewayProcess[] = [];
afterEach(async () => {
  for (const gateway of processes.splice(0).toReversed()) await gateway.kill();
  await upstream.close();
});

interface Leaving {
  /** The process that leaves. */
  readonly gateway: GatewayProcess;
  readonly management: Management;
  readonly secret: string;
}

async function started(env: Record<string, string>): Promise<GatewayProcess> {
  const settings = "TOLLGATE_CORE" in env ? {} : { settings: settingsFor(`${upstream.url}/v1`) };
  const gateway = await startGateway({ ...settings, env: { ...SECRET, ...env } });
  // The upstream says less than one of OpenAI's.
  gateway.expectOddAnswers();
  processes.push(gateway);
  return gateway;
}

const KINDS = {
  "a gateway": async () => {
    const gateway = await started(LONG);
    return { gateway, core: gateway };
  },
  "a gateway of two workers": async () => {
    const gateway = await started({ ...LONG, TOLLGATE_WORKERS: "2" });
    await gateway.logged('"worker":1', "a worker serves");
    return { gateway, core: gateway };
  },
  "a front end": async () => {
    const core = await started({});
    return { gateway: await started({ ...LONG, TOLLGATE_CORE: core.grpc }), core };
  },
};

async function leaving(kind: keyof typeof KINDS): Promise<Leaving> {
  upstream = await startSteppedUpstream();
  const { gateway, core } = await KINDS[kind]();
  const management = new Management(core);
  await management.account("acme", 1_000_000_000n);
  return { gateway, management, secret: (await management.makeKey("acme")).secret };
}

const portOf = (url: string): number => Number(new URL(url).port);

/**
 * What one request on a connection of its own gets, as a load balancer's next client: a status, or why there is none.
 */
async function newcomer(gateway: GatewayProcess, secret: string): Promise<number | string> {
  const client = await RawClient.open(portOf(gateway.url)).catch((error: unknown) => String(error));
  if (typeof client === "string") return client;
  client.write(`GET /v1/models HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${secret}\r\n\r\n`);
  const deadlineMs = performance.now() + WAIT_MS;
  while (!client.closed && !client.text.includes("\r\n\r\n") && performance.now() < deadlineMs) await pace(10);
  const isLeft = !client.closed && client.text === "";
  client.socket.destroy();
  return isLeft ? LEFT : Number(client.text.split(" ")[1]);
}

test.each(Object.keys(KINDS) as (keyof typeof KINDS)[])(
  "%s that is told to stop is not ready, serves on, then closes its port and ends what runs",
  async (kind) => {
    const { gateway, management, secret } = await leaving(kind);
    const running = await postChat(gateway, secret, chat(stopAfter("case-runs", 2), { stream: true }));
    await expect.poll(() => upstream.stops.get("case-runs")?.stopped, PATIENT).toBe(true);
    const ready = async (base: string): Promise<number> => (await fetch(`${base}/readyz`)).status;
    const admin = `http://${gateway.admin}`;
    expect([await ready(gateway.url), await ready(admin)]).toEqual([200, 200]);

    process.kill(gateway.pid, "SIGTERM");
    for (const base of [gateway.url, ...(kind.includes("workers") ? [] : [admin])])
      await expect.poll(() => ready(base), PATIENT).toBe(503);
    if (kind === "a gateway") {
      const health = new HealthClient(gateway.admin, credentials.createInsecure());
      const told = await new Promise((resolve, reject) =>
        health.check({ service: "" }, (error, answer) => (error === null ? resolve(answer?.status) : reject(error))),
      );
      health.close();
      expect(told).toBe(ServingStatus.NOT_SERVING);
      const models = await tollgate(["models"], { TOLLGATE_GATEWAY: gateway.grpc, TOLLGATE_KEY: secret });
      expect(models.code).toBe(0);
    }
    expect((await fetch(`${gateway.url}/livez`)).status).toBe(200);
    for (let count = 0; count < 4; count++) expect(await newcomer(gateway, secret)).toBe(200);
    const generated = postChat(gateway, secret, chat(stopAfter("case-late", 2), { stream: true }));
    await expect.poll(() => upstream.stops.get("case-late")?.stopped, PATIENT).toBe(true);
    upstream.stops.get("case-late")?.release();
    expect(await readAll(await generated)).toContain("data: [DONE]");

    // Told once more, it waits for no time: its workers are told as well.
    process.kill(gateway.pid, "SIGTERM");
    // Whoever comes in that moment is served, refused or closed, and not left waiting until what runs has ended.
    const answers = await Promise.all(
      Array.from({ length: CROWD }, async () => {
        const all: (string | number)[] = [];
        do all.push(await newcomer(gateway, secret));
        while (!String(all.at(-1)).includes("ECONNREFUSED"));
        return all;
      }),
    );
    expect(answers.flat()).not.toContain(LEFT);
    expect(upstream.stops.get("case-runs")?.left).toBe(false);
    upstream.stops.get("case-runs")?.release();
    expect((await readAll(running)).endsWith("data: [DONE]\n\n")).toBe(true);
    expect(await gateway.ended()).toBe(0);
    if (kind !== "a front end") return;
    expect(await management.balance("acme")).toMatchObject({ heldNanos: 0n });
    await management.verify();
  },
);

test("workers that are told to stop while the second one starts end well", async () => {
  upstream = await startSteppedUpstream();
  const gateway = await started({ TOLLGATE_WORKERS: "2" });
  process.kill(gateway.pid, "SIGTERM");
  expect(await gateway.ended()).toBe(0);
});

test("a process that is told to stop in the moment in which it is ready ends well", async () => {
  upstream = await startSteppedUpstream();
  for (let round = 0; round < 5; round++) {
    const gateway = await started({ TOLLGATE_LAME_DUCK_MS: "0" });
    process.kill(gateway.pid, "SIGTERM");
    expect(await gateway.ended()).toBe(0);
  }
});

test("a process that is told once closes its port when its time is over", async () => {
  upstream = await startSteppedUpstream();
  const gateway = await started({ TOLLGATE_LAME_DUCK_MS: "1000" });
  process.kill(gateway.pid, "SIGTERM");
  await expect.poll(() => newcomer(gateway, "none"), PATIENT).toContain("ECONNREFUSED");
  expect(await gateway.ended()).toBe(0);
});
