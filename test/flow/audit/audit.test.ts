/** The audit log of a real gateway: through each door, as JSON and CSV, and after a kill under load. */
import { rmSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { commandsOfOneProcess } from "../../support/commands.js";
import { type FakeUpstream, startFakeUpstream } from "../../support/fake-upstream.js";
import { type GatewayProcess, OPERATOR_KEY, startGateway } from "../../support/gateway-process.js";
import { Management } from "../../support/management.js";
import { settingsFor } from "../../support/world.js";

const tollgate = commandsOfOneProcess();
const PATIENT = { timeout: 60_000, interval: 50 };
const CALLERS = 8;
/** The process is killed after so many answers. */
const ANSWERS = 120;

interface Listed {
  readonly method: string;
  readonly resource: string;
  readonly result: string;
  readonly before: string;
  readonly after: string;
  readonly actor: Readonly<Record<string, string>>;
}

let upstream: FakeUpstream;
let gateway: GatewayProcess;
let management: Management;

beforeAll(async () => {
  upstream = await startFakeUpstream();
  gateway = await startGateway({ settings: file(600) });
  management = new Management(gateway);
});
afterAll(async () => {
  await gateway.stop();
  await upstream.close();
  rmSync(gateway.dataDirectory, { recursive: true });
});

function file(rate: number): string {
  return `${settingsFor(upstream.url)}
accounts: { seeded: { credit: "25.00" } }
keys:
  - { account: seeded, name: ci, secret: sk-seeded-0123456789abcdef, requests_per_minute: ${rate} }
`;
}

async function listed(query: string): Promise<Listed[]> {
  const all: Listed[] = [];
  for (let token = ""; ;) {
    const { body } = await management.call("GET", `/audit_events?page_size=1000&page_token=${token}&${query}`);
    all.push(...(body["audit_events"] as Listed[]));
    token = String(body["next_page_token"]);
    if (token === "") return all;
  }
}

test("a first start is recorded, with what the settings file seeded", async () => {
  const seeded = await listed("account_id=seeded");
  expect(seeded.map(({ method, resource }) => [method, resource.replace(/key_.*/, "KEY")])).toEqual(
    expect.arrayContaining([
      ["settings.apply", "accounts/seeded"],
      ["settings.apply", "keys/KEY"],
    ]),
  );
  expect(seeded.every(({ actor }) => actor["kind"] === "file")).toBe(true);
  expect(await listed("resource=accounts/operator")).toMatchObject([
    { method: "gateway.start", actor: { kind: "gateway", door: "gateway" } },
  ]);
});

test("a reload is recorded, done and refused", async () => {
  const count = (await listed("resource=settings/file")).length;
  gateway.writeSettings(file(600).replace("gone-1:", "late-1:"));
  process.kill(gateway.pid, "SIGHUP");
  await expect.poll(async () => (await listed("resource=settings/file")).length, PATIENT).toBe(count + 1);
  const [applied] = await listed("resource=settings/file");
  expect(applied).toMatchObject({ method: "settings.apply", result: "done", actor: { kind: "file" } });
  expect(JSON.parse(applied?.before ?? "")).toHaveProperty("version");
  gateway.writeSettings("upstreams: 7\n");
  process.kill(gateway.pid, "SIGHUP");
  await expect.poll(async () => (await listed("resource=settings/file&result=refused")).length, PATIENT).toBe(1);
  gateway.writeSettings(file(600));
});

test("each door is told, and the log comes as CSV and by the command line", async () => {
  const { id } = await management.makeKey("acme-door").catch(async () => {
    await management.account("acme-door", 0n);
    return management.makeKey("acme-door", { name: '=cmd("x")' });
  });
  const env = { TOLLGATE_GATEWAY: gateway.grpc, TOLLGATE_KEY: OPERATOR_KEY };
  expect(await tollgate(["key", "revoke", id], env)).toMatchObject({ code: 0 });
  const [revoked, created] = await listed(`resource=keys/${id}`);
  expect(created).toMatchObject({ method: "KeyService.CreateKey", actor: { door: "http", address: "127.0.0.1" } });
  expect(revoked).toMatchObject({ method: "KeyService.RevokeKey", actor: { door: "cli", address: "127.0.0.1" } });
  const shown = await tollgate(["audit", "list", "--resource", `keys/${id}`], env);
  expect(shown.stdout).toMatch(/key operator 127\.0\.0\.1 +KeyService\.RevokeKey/);
  const response = await fetch(`${gateway.url}/api/v1/audit_events?format=csv&resource=keys/${id}`, {
    headers: { authorization: `Bearer ${OPERATOR_KEY}` },
  });
  expect(response.headers.get("content-type")).toContain("text/csv");
  const csv = await response.text();
  expect(csv.split("\r\n")).toHaveLength(4);
  const printed = await tollgate(["audit", "list", "--csv", "--resource", `keys/${id}`], env);
  expect(printed.stdout).toBe(csv);
});

test("a kill under load loses no record of a change that was acknowledged", async () => {
  await management.account("loaded", 1_000_000n);
  const acknowledged: string[] = [];
  let killed: Promise<void> | undefined;
  const caller = async (number: number): Promise<void> => {
    for (let count = 0; killed === undefined; count += 1) {
      const creditId = `k${number}-${count}`;
      const body = { amount_nanos: "1", credit_id: creditId };
      const credited = await management.call("POST", "/accounts/loaded:credit", body).catch(() => undefined);
      if (credited?.status === 200) acknowledged.push(`c:${creditId}`);
      const made = await management.call("POST", "/keys", { account_id: "loaded" }).catch(() => undefined);
      const { id } = (made?.body["key"] ?? {}) as { id?: string };
      if (id !== undefined) acknowledged.push(`keys/${id}`);
      if (acknowledged.length >= ANSWERS) killed ??= gateway.kill();
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, (_, number) => caller(number)));
  await killed;
  gateway = await startGateway({ settings: file(600), dataDirectory: gateway.dataDirectory });
  management = new Management(gateway);
  const recorded = new Set(
    (await listed("account_id=loaded")).flatMap((event) => [
      event.resource,
      (event as unknown as Record<string, string>)["transfer_id"],
    ]),
  );
  expect(acknowledged.filter((name) => !recorded.has(name))).toEqual([]);
  await management.verify();
});
