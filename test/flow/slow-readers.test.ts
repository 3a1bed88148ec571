/** Readers that read nothing: what each costs in memory is bounded, however long its answer would be. */
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { chat } from "../support/chat-call.js";
import { type FakeUpstream, script, startFakeUpstream } from "../support/fake-upstream.js";
import { type GatewayProcess, startGateway } from "../support/gateway-process.js";
import { Management } from "../support/management.js";
import { RawClient, rawPost } from "../support/raw-http.js";
import { settingsFor } from "../support/world.js";

const [FEW, MANY] = [15, 60];
/** What its connections may hold, and what any stream takes. */
const READER_BYTES_MAX = 512 * 1024;
/** Some 12 MB of events. */
const LONG = { words: 60_000 };

let upstream: FakeUpstream;
let gateway: GatewayProcess;
let secret: string;
beforeAll(async () => {
  upstream = await startFakeUpstream();
  const preload = new URL("../support/heap-report.mjs", import.meta.url).href;
  const settings = settingsFor(upstream.url, 1_000_000);
  gateway = await startGateway({ settings, env: { NODE_OPTIONS: `--import ${preload}` } });
  const management = new Management(gateway);
  await management.account("acme", 1_000_000_000_000n);
  ({ secret } = await management.makeKey("acme"));
});
afterAll(async () => {
  await gateway.stop();
  await upstream.close();
});

function memoryLines(): readonly string[] {
  return gateway.log.filter((line) => line.includes('"msg":"memory"'));
}

/** The memory in use, of two looks the lower. */
async function memoryBytes(): Promise<number> {
  const looks: number[] = [];
  for (let look = 0; look < 2; look++) {
    const count = memoryLines().length;
    process.kill(gateway.pid, "SIGUSR2");
    await expect.poll(() => memoryLines().length, { timeout: 20_000 }).toBeGreaterThan(count);
    looks.push((JSON.parse(memoryLines().at(-1) ?? "") as { bytes: number }).bytes);
  }
  return Math.min(...looks);
}

const SAID = script(LONG);
test.each([
  { name: "of chat completions", path: "/v1/chat/completions", body: chat(SAID, { stream: true }) },
  { name: "of messages, translated", path: "/v1/messages", body: chat(SAID, { stream: true, max_tokens: 900_000 }) },
  {
    name: "of responses, translated and repeated at their end",
    path: "/v1/responses",
    body: { model: "fake-1", input: SAID, stream: true },
  },
])("a reader $name that reads nothing costs half a MiB at most", async ({ path, body }) => {
  const clients: RawClient[] = [];
  const openUpTo = async (count: number): Promise<number> => {
    while (clients.length < count) {
      const client = await RawClient.open(Number(new URL(gateway.url).port));
      client.socket.pause();
      client.write(rawPost(path, JSON.stringify(body), { authorization: `Bearer ${secret}` }));
      clients.push(client);
    }
    await sleep(1_500);
    return memoryBytes();
  };
  const before = upstream.requests.length;
  const few = await openUpTo(FEW);
  const many = await openUpTo(MANY);
  expect(upstream.requests.length - before).toBe(MANY);
  expect(upstream.requests.slice(before).some(({ done }) => done)).toBe(false);
  expect((many - few) / (MANY - FEW)).toBeLessThan(READER_BYTES_MAX);
  for (const { socket } of clients) socket.destroy();
  await expect.poll(() => upstream.requests.slice(before).every(({ left }) => left), { timeout: 20_000 }).toBe(true);
});
