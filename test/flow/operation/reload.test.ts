/** A reload tells the truth: a refused file changes nothing, what was applied once is said, a signal asks for it. */
import { rmSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chat, postChat, readAll } from "../../support/chat-call.js";
import { type FakeUpstream, script, startFakeUpstream } from "../../support/fake-upstream.js";
import { type GatewayProcess, startGateway } from "../../support/gateway-process.js";
import { Management } from "../../support/management.js";
import { settingsFor } from "../../support/world.js";

const SEED_SECRET = "sk-seeded-0123456789abcdef";
const PATIENT = { timeout: 60_000, interval: 50 };

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

test("what is taken out of the file is named once, with what stops it, and lives on", async () => {
  const text = file({}).replace(/^accounts:[^]*/m, "");
  const leftIn = async (): Promise<unknown[]> =>
    (await reload(text)).flatMap(({ left }) => (left === undefined ? [] : [left]));
  expect(await leftIn()).toEqual([
    "the account seeded; stop it with 'tollgate account freeze seeded'",
    expect.stringMatching(/^the key (key_\w+); end it with 'tollgate key revoke \1'$/),
  ]);
  expect(await modelIds()).toContain("gone-1");
  expect(await leftIn()).toEqual([]);
  await reload(file({}));
});

test("SIGHUP reloads a file that did not change, and what runs goes on", async () => {
  const running = await postChat(gateway, SEED_SECRET, chat(script({ words: 40, eventDelayMs: 20 }), { stream: true }));
  const lines = await reload(file({}));
  expect(lines.some(({ msg }) => msg === "settings reloaded")).toBe(true);
  expect(await readAll(running)).toContain("data: [DONE]");
});

describe("alerts of the file", () => {
  const ALERTS = `alerts:
  reloads: { kind: reload_refused }
  low: { kind: balance_low, account: seeded, amount: "1000.00" }
`;
  const wrong = (text: string): string => text.replace("price: free", "price: dear");

  async function eventsOf(alertId: string): Promise<unknown[]> {
    const { body } = await management.call("GET", `/events?alert_id=${encodeURIComponent(alertId)}`);
    return (body["events"] as { type: string; subject: string }[]).map(({ type, subject }) => [type, subject]);
  }

  test("are in force with it, shown as its own, and changed in it alone", async () => {
    await reload(file({}) + ALERTS);
    const { body } = await management.call("GET", "/alerts");
    const ids = (body["alerts"] as { id: string }[]).map(({ id }) => id);
    expect(ids).toEqual(["file:low", "file:reloads"]);
    for (const id of ["file:low", encodeURIComponent("file:low")]) {
      const got = await management.call("GET", `/alerts/${id}`);
      expect(got.body).toMatchObject({ alert: { id: "file:low", account_id: "seeded", settings: { name: "low" } } });
      expect(got.body).not.toHaveProperty("alert.create_time");
      const changes = [
        await management.call("PATCH", `/alerts/${id}`, { settings: { paused: true } }),
        await management.call("DELETE", `/alerts/${id}`),
      ];
      for (const refused of changes) {
        expect(refused.status).toBe(400);
        expect(JSON.stringify(refused.body)).toContain("an alert of the settings file: change it there");
      }
    }
    // Its account sees its own, and nothing of the operator's.
    const { secret } = await management.makeKey("seeded");
    const own = (await new Management(gateway, secret).call("GET", "/alerts")).body["alerts"];
    expect(own).toMatchObject([{ id: "file:low" }]);
    await expect.poll(() => eventsOf("file:low")).toEqual([["balance_low.fired", "account seeded"]]);
  });

  test("and every reload leaves its record, whichever way it was asked for, and a refused one is told", async () => {
    const text = file({}) + ALERTS;
    const records = async (filter = ""): Promise<Record<string, unknown>[]> => {
      const path = `/audit_events?method=settings.apply&resource=settings/file${filter}`;
      return (await management.call("GET", path)).body["audit_events"] as Record<string, unknown>[];
    };
    const settled = (count: number): Promise<void> => expect.poll(async () => (await records()).length).toBe(count);
    const before = (await records()).length;
    // By its change alone, by a signal on top of it, and by a signal without a change.
    gateway.writeSettings(`# changed\n${text}`);
    await settled(before + 1);
    await reload(text);
    process.kill(gateway.pid, "SIGHUP");
    await settled(before + 3);
    gateway.writeSettings(wrong(text));
    await settled(before + 4);
    process.kill(gateway.pid, "SIGHUP");
    await settled(before + 5);
    await expect.poll(() => eventsOf("file:reloads")).toEqual([["reload_refused.fired", "settings file"]]);

    const made = (await records()).slice(0, 5).toReversed();
    expect(made.map(({ result }) => result)).toEqual(["done", "done", "done", "refused", "refused"]);
    expect(made.map(({ actor }) => actor)).toEqual(made.map(() => expect.objectContaining({ kind: "file" })));
    for (const { reason, after } of made.slice(3)) {
      expect(reason).toBe("SETTINGS_REFUSED");
      expect(String(after)).toContain("models.other-1.price");
    }
    const refused = await records("&result=refused");
    expect(refused.slice(0, 2)).toEqual(made.slice(3).toReversed());
    expect(refused.every(({ result }) => result === "refused")).toBe(true);

    // What is taken out of the file is gone, and nothing of it is told any more.
    await reload(file({}));
    // The line of the refusal before may come late, and is then taken for the end of this reload.
    const left = async (): Promise<unknown> => (await management.call("GET", "/alerts")).body["alerts"];
    await expect.poll(left, PATIENT).toEqual([]);
  });
});

test("a file that manages its rows changes and disables them at a reload, and enables them again", async () => {
  const managing = (text: string): string => `manage: true\n${text}`;
  const status = async (): Promise<number> => (await postChat(gateway, SEED_SECRET, chat("Hello"))).status;
  const keysOf = async (): Promise<unknown> => (await management.call("GET", "/keys?account_id=seeded")).body["keys"];
  await reload(managing(file({ budget: "7.00", rate: 5 })));
  const { account } = (await management.call("GET", "/accounts/seeded")).body;
  expect(account).toMatchObject({ managed: true, settings: { budget_day_nanos: "7000000000" } });
  expect(await keysOf()).toContainEqual(
    expect.objectContaining({ managed: true, settings: expect.objectContaining({ requests_per_minute: "5" }) }),
  );
  expect((await management.call("GET", "/settings")).body["named"]).toContainEqual(
    expect.objectContaining({ block: "account", name: "seeded", source: "file" }),
  );
  expect(await status()).toBe(200);
  await reload(managing(file({}).replace(/^keys:[^]*/m, "")));
  expect(await status()).toBe(401);
  expect(await keysOf()).toContainEqual(expect.objectContaining({ managed: true, revoke_time: expect.any(String) }));
  await reload(managing(file({}).replace(/^accounts:[^]*/m, "")));
  const gone = (await management.call("GET", "/accounts/seeded")).body["account"];
  expect(gone).toMatchObject({ managed: true, freeze: { reason: "removed from the settings file", actor: "file" } });
  await reload(managing(file({})));
  expect(await status()).toBe(200);
  await reload(file({}));
  expect((await management.call("GET", "/accounts/seeded")).body["account"]).not.toHaveProperty("managed", true);
});
