/** A model with cache marks: what reaches Claude's upstream, and what the record says of it. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type FakeAnthropic, startFakeAnthropic, steer } from "../../support/fake-anthropic.js";
import { type GatewayProcess, startGateway } from "../../support/gateway-process.js";
import { Management } from "../../support/management.js";
import { readMetrics } from "../../support/metrics-reading.js";

const PRICE = `price: { input: "1", cache_read: "0.1", cache_write: "1.25", output: "5" }`;
const LONG = "word ".repeat(2_000);

let upstream: FakeAnthropic;
let gateway: GatewayProcess;
let management: Management;
let secrets: { readonly plain: string; readonly off: string };

beforeAll(async () => {
  upstream = await startFakeAnthropic();
  gateway = await startGateway({
    settings: [
      "upstreams:",
      `  claude: { family: anthropic, base_url: "${upstream.url}", api_key: "sk-ant-upstream-secret-of-this-test" }`,
      "models:",
      `  marked: { targets: [{ upstream: claude, model: claude-opus-5 }], cache_marks: auto, ${PRICE} }`,
      `  plain: { targets: [{ upstream: claude, model: claude-opus-5 }], ${PRICE} }`,
      "",
    ].join("\n"),
  });
  management = new Management(gateway);
  await management.account("acme", 100_000_000_000n);
  const plain = await management.makeKey("acme");
  const off = await management.makeKey("acme", { cache_marks_off: true });
  secrets = { plain: plain.secret, off: off.secret };
});
afterAll(async () => {
  await gateway.stop();
  await upstream.close();
});

async function ask(model: string, usage: object, key: keyof typeof secrets = "plain", headers: object = {}) {
  const messages = [
    { role: "user", content: LONG },
    { role: "assistant", content: "Yes." },
    { role: "user", content: steer({ usage }) },
  ];
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${secrets[key]}`, "content-type": "application/json", ...headers },
    body: JSON.stringify({ model, messages, max_tokens: 50 }),
  });
  expect([response.status, await response.text()]).toEqual([200, expect.any(String)]);
  const id = String(response.headers.get("x-request-id"));
  const { body } = await management.call("GET", `/requests/${id}`);
  const request = body["request"] as Record<string, unknown> & { detail: Record<string, unknown> };
  return { sent: JSON.stringify(upstream.requests.at(-1)?.body), request };
}

const WRITE = { input_tokens: 3, cache_creation_input_tokens: 1_000 };
const READ = { input_tokens: 3, cache_read_input_tokens: 1_000 };

test("a conversation is marked, and its record says what the cache saved", async () => {
  const written = await ask("marked", WRITE);
  expect(written.sent.split("cache_control").length - 1).toBe(2);
  expect(written.request.detail).toMatchObject({ cache_marks: "auto", cache_saved_nanos: "-250000" });
  const read = await ask("marked", READ);
  expect(read.request.detail).toMatchObject({ cache_marks: "auto", cache_saved_nanos: "900000" });
  const saved = (await readMetrics(gateway)).value('tollgate_cache_saved_usd{model="marked",marks="auto"}');
  expect(saved).toBeCloseTo(0.000_65, 9);
});

test("the hold covers a prompt that is wholly written to the cache", async () => {
  const { request } = await ask("marked", WRITE);
  expect(Number(request["hold_nanos"])).toBeGreaterThan((LONG.length / 5) * 1_250);
});

test("neither another model nor a key that turned marks off is marked", async () => {
  expect((await ask("plain", WRITE)).sent).not.toContain("cache_control");
  const { sent, request } = await ask("marked", WRITE, "off");
  expect(sent).not.toContain("cache_control");
  expect(request.detail["cache_marks"]).toBeUndefined();
});

test("a session that only writes is not marked for ever", async () => {
  const markers: unknown[] = [];
  for (let turn = 0; turn < 4; turn += 1) {
    const { request } = await ask("marked", WRITE, "plain", { "x-session-id": "writes" });
    markers.push(request.detail["cache_marks"]);
  }
  expect(markers).toEqual(["auto", "auto", "auto", "none"]);
});
