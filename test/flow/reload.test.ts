/** A reload tells the truth: a refused file changes nothing, what was applied once is said, a signal asks for it. */
import { rmSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { chat, postChat, readAll } from "../support/chat-call.js";
import { type FakeUpstream, script, startFakeUpstream } from "../support/fake-upstream.js";
import { type GatewayProcess, startGateway } from "../support/gateway-process.js";
import { Management } from "../support/management.js";
import { settingsFor } from "../support/world.js";

const SEED_SECRET = "sk-seeded-0123456789abcdef";
const PATIENT = { timeout: 30_000, interval: 50 };

let upstream: FakeUpstream;
let gateway: GatewayProcess;
let management: Management;

beforeAll(async () => {
  upstream = await startFakeUpstream();
  gateway = await startGateway({ settings: file({}) });
  management = new Management(gateway);
});
afterAll(async () => {
  await gateway.stop();
  await upstream.close();
  rmSync(gateway.dataDirectory, { recursive: true });
});

interface Said {
  readonly models?: string;
  readonly credit?: string;
  readonly budget?: string;
  readonly rate?: number;
}

function file({ models = "", credit = "25.00", budget = "5.00", rate = 600 }: Said): string {
  return `${settingsFor(upstream.url)}${models}
accounts: { seeded: { credit: "${credit}", budget_day: "${budget}" } }
keys:
  - { account: seeded, name: ci, secret: ${SEED_SECRET}, requests_per_minute: ${rate} }
`;
}

/** The lines that a reload of this text logs. */
async function reload(text: string): Promise<Record<string, unknown>[]> {
  const before = gateway.log.length;
  gateway.writeSettings(text);
  process.kill(gateway.pid, "SIGHUP");
  const ended = (line: string): boolean => line.includes("settings reloaded") || line.includes("is refused");
  await expect.poll(() => gateway.log.slice(before).some(ended), PATIENT).toBe(true);
  return gateway.log.slice(before).map((line) => JSON.parse(line) as Record<string, unknown>);
}

async function modelIds(): Promise<string[]> {
  const response = await fetch(`${gateway.url}/v1/models`, { headers: { authorization: `Bearer ${SEED_SECRET}` } });
  return ((await response.json()) as { data: { id: string }[] }).data.map((model) => model.id);
}

test.each([
  {
    name: "a model without a price",
    more: "  new-1: { targets: [{ upstream: fake }] }\n",
    told: /tollgate.yaml:9:10 /,
  },
  { name: "a credential that is none", more: "", told: /upstreams\.fake: / },
])("a file with $name changes nothing, whatever else it says", async ({ more, told }) => {
  const text = file({ models: more }).replace("gone-1:", "late-1:").replace('output: "0.1"', 'output: "0.9"');
  const wrong = more === "" ? text.replace("family: openai-compatible", "family: vertex") : text;
  const lines = JSON.stringify(await reload(wrong.replace("accounts: {", "accounts: { fresh: { credit: 5 },")));
  expect(lines).toMatch(told);
  expect(lines).toContain("is refused");
  expect(await modelIds()).toContain("gone-1");
  expect(await modelIds()).not.toContain("late-1");
  expect((await management.call("GET", "/accounts/fresh")).status).toBe(404);
  const answer = await postChat(gateway, SEED_SECRET, chat("Hello"));
  expect(answer.headers.get("x-tollgate-cost-nanos")).toBe("500");
});

test("what the file says otherwise than was applied is said at every reload, and how it is changed", async () => {
  const text = file({ credit: "30.00", budget: "7.00", rate: 5 });
  for (let round = 0; round < 2; round++) {
    const told = (await reload(text)).flatMap(({ difference }) => (difference === undefined ? [] : [difference]));
    expect(told).toEqual([
      expect.stringMatching(/^accounts\.seeded says other limits \(budget_day_nanos\).*tollgate account update/),
      expect.stringMatching(/^accounts\.seeded\.credit is 30\.00.*tollgate account credit/),
      expect.stringMatching(/^keys\[0\] \(key_\w+\) says other settings \(requests_per_minute\).*tollgate key update/),
    ]);
  }
  expect((await management.balance("seeded")).grantedNanos).toBe(25_000_000_000n);
  expect((await reload(file({}))).filter(({ difference }) => difference !== undefined)).toEqual([]);
});

test("SIGHUP reloads a file that did not change, and what runs goes on", async () => {
  const running = await postChat(gateway, SEED_SECRET, chat(script({ words: 40, eventDelayMs: 20 }), { stream: true }));
  const lines = await reload(file({}));
  expect(lines.some(({ msg }) => msg === "settings reloaded")).toBe(true);
  expect(await readAll(running)).toContain("data: [DONE]");
});
