/** Requests of a session go to the upstream that answered it before, and their records say so. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type FakeUpstream, startFakeUpstream } from "../../support/fake-upstream.js";
import { type GatewayProcess, OPERATOR_KEY, startGateway } from "../../support/gateway-process.js";
import { Management } from "../../support/management.js";
import { readMetrics } from "../../support/metrics-reading.js";
import { says } from "../../support/world.js";

const IDS = ["a", "b", "c", "d"];
const PRICED = "output_tokens_max: 100, context_tokens: 1000000, price: free";

let upstreams: FakeUpstream[];
let gateway: GatewayProcess;
let management: Management;

beforeAll(async () => {
  upstreams = await Promise.all(IDS.map(() => startFakeUpstream()));
  const targets = IDS.map((id) => `{ upstream: ${id} }`).join(", ");
  gateway = await startGateway({
    settings: [
      "upstreams:",
      ...IDS.map((id, place) => `  ${id}: { family: openai-compatible, base_url: "${upstreams[place]?.url}" }`),
      "models:",
      `  sticky: { targets: [${targets}], ${PRICED} }`,
      `  scattered: { targets: [${targets}], affinity: off, ${PRICED} }`,
      `  alone: { targets: [{ upstream: a }], ${PRICED} }`,
      "",
    ].join("\n"),
  });
  management = new Management(gateway);
});
afterAll(async () => {
  await gateway.stop();
  await Promise.all(upstreams.map((upstream) => upstream.close()));
});

interface Asked {
  readonly model?: string;
  readonly text?: string;
  readonly headers?: Record<string, string>;
  readonly more?: object;
}

async function ask({ model = "sticky", text = "Hello", headers = {}, more = {} }: Asked) {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${OPERATOR_KEY}`, "content-type": "application/json", ...headers },
    body: JSON.stringify({ model, messages: says(text), ...more }),
  });
  expect(response.status).toBe(200);
  await response.text();
  const id = String(response.headers.get("x-request-id"));
  return { id, upstream: String(response.headers.get("x-tollgate-upstream")) };
}

async function detailOf(id: string): Promise<Record<string, unknown>> {
  const { body } = await management.call("GET", `/requests/${id}`);
  return (body["request"] as { detail: Record<string, unknown> }).detail;
}

const CLAUDE_CODE = JSON.stringify({ device_id: "5f0c", account_uuid: "", session_id: "of-claude" });
/** Longer than what is read on the event loop. */
const LONG = "word ".repeat(60_000);

const SESSIONS: readonly { readonly source: string; readonly asked: Asked; readonly long?: boolean }[] = [
  { source: "header", asked: { headers: { "x-session-id": "s-1" } } },
  { source: "session_id", asked: { more: { session_id: "s-2" } } },
  { source: "prompt_cache_key", asked: { more: { prompt_cache_key: "s-3" } } },
  { source: "metadata", asked: { more: { user: CLAUDE_CODE } } },
  { source: "content", asked: {} },
  { source: "session_id", long: true, asked: { more: { session_id: "s-4" } } },
  { source: "content", long: true, asked: {} },
];
test.each(SESSIONS)(
  "a session by $source stays at its upstream; long: $long",
  async ({ source, asked, long = false }) => {
    const turn = async (place: number) => {
      const later = Array.from({ length: place }, () => [
        { role: "assistant", content: "Hi" },
        { role: "user", content: long ? LONG : "Go on" },
      ]).flat();
      const first = { role: "user", content: source === "content" ? `opening ${long}` : `turn ${place}` };
      return await ask({ ...asked, more: { ...asked.more, messages: [first, ...later] } });
    };
    const first = await turn(0);
    const again = [await turn(1), await turn(2), await turn(3)];
    expect(again.map(({ upstream }) => upstream)).toEqual(again.map(() => first.upstream));
    expect(await detailOf(first.id)).toMatchObject({ affinity: "new", affinity_source: source });
    for (const { id } of again) expect(await detailOf(id)).toMatchObject({ affinity: "kept", affinity_source: source });
  },
);

test("sessions share the upstreams", async () => {
  const seen = new Set<string>();
  for (let place = 0; place < 24; place += 1)
    seen.add((await ask({ headers: { "x-session-id": `many-${place}` } })).upstream);
  expect(seen.size).toBe(4);
});

test("without affinity, and with one target, no session is looked for", async () => {
  const headers = { "x-session-id": "s-off" };
  const scattered = [];
  for (let place = 0; place < 24; place += 1) scattered.push(await ask({ model: "scattered", headers }));
  expect(new Set(scattered.map(({ upstream }) => upstream)).size).toBeGreaterThan(1);
  const alone = await ask({ model: "alone", headers });
  for (const { id } of [alone, scattered[0] ?? alone]) {
    const { session, affinity, affinity_source: source } = await detailOf(id);
    expect([session, affinity, source]).toEqual(["s-off", undefined, undefined]);
  }
});

test("what came from caches is counted by affinity", async () => {
  const { text } = await readMetrics(gateway);
  const models = [...text.matchAll(/^tollgate_affinity_input_tokens_total\{model="(\w+)",affinity="kept",/gm)];
  expect(models.map(([, model]) => model)).toEqual(["sticky", "sticky"]);
});
