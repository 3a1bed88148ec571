/** What a node says of itself: over HTTP, by the command, and to Prometheus; and which settings are in force there. */
import { createHash } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { tollgate } from "../../support/command.js";
import { type GatewayProcess, OPERATOR_KEY, startGateway } from "../../support/gateway-process.js";
import { Management } from "../../support/management.js";
import { readMetrics } from "../../support/metrics-reading.js";

const PATIENT = { timeout: 60_000, interval: 50 };
const FIRST = "accounts:\n  acme: {}\n";
const SECOND = "accounts:\n  acme: {}\n  other: {}\n";
let gateway: GatewayProcess;

beforeAll(async () => {
  gateway = await startGateway({ settings: FIRST });
});
afterAll(() => gateway.kill());

type Listed = Readonly<Record<string, unknown>>;

async function nodes(): Promise<readonly Listed[]> {
  const { status, body } = await new Management(gateway).call("GET", "/nodes");
  expect(status).toBe(200);
  return body["nodes"] as Listed[];
}

const versionOf = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 12);

test("beside the embedded store one node answers, and says what it is and where", async () => {
  const [node, ...others] = await nodes();
  expect(others).toEqual([]);
  expect(node).toMatchObject({
    version: expect.stringMatching(/^\d+\.\d+\.\d+/),
    answering: true,
    settings_version: versionOf(FIRST),
    file_version: versionOf(FIRST),
    http_address: gateway.url.replace("http://", ""),
    grpc_address: gateway.grpc,
  });
  expect(Date.now() - Date.parse(String(node?.["start_time"]))).toBeLessThan(600_000);
  expect(Number(node?.["beat_age_ms"])).toBeLessThan(60_000);
});

test("settings have another version once a changed file is accepted, and none by one that is refused", async () => {
  const before = (await nodes())[0];
  gateway.writeSettings("accounts: 7\n");
  await expect.poll(() => gateway.log.some((line) => line.includes("file is refused")), PATIENT).toBe(true);
  expect((await nodes())[0]).toMatchObject({ settings_version: versionOf(FIRST) });
  gateway.writeSettings(SECOND);
  await expect.poll(async () => (await nodes())[0]?.["settings_version"], PATIENT).toBe(versionOf(SECOND));
  const after = (await nodes())[0];
  expect(Date.parse(String(after?.["settings_accept_time"]))).toBeGreaterThan(
    Date.parse(String(before?.["settings_accept_time"])),
  );
  const { text: metrics } = await readMetrics(gateway);
  expect(metrics).toContain(`tollgate_settings_accept_seconds{version="${versionOf(SECOND)}"} `);
  gateway.writeSettings(FIRST);
  await expect.poll(async () => (await nodes())[0]?.["settings_version"], PATIENT).toBe(versionOf(FIRST));
});

test("the command prints a table for people and JSON for programs, to operators alone", async () => {
  const env = { TOLLGATE_OPERATOR_KEY: OPERATOR_KEY };
  const table = await tollgate(["nodes", "--gateway", gateway.grpc], env);
  expect(table).toMatchObject({ code: 0, stderr: "" });
  expect(table.stdout.split("\n")[0]).toMatch(
    /^NODE +VERSION +SINCE +BEAT MS +CLOCK MS +SETTINGS +ACCEPTED +FILE +HTTP +GRPC +MODELS$/,
  );
  expect(table.stdout.split("\n")[1]).toMatch(/^[0-9a-f-]{36} \* .* same .*$/);
  const json = JSON.parse((await tollgate(["nodes", "--gateway", gateway.grpc, "--json"], env)).stdout) as Listed;
  expect(json["nodes"]).toHaveLength(1);
  const { secret } = await new Management(gateway).makeKey("acme");
  expect((await new Management(gateway, secret).call("GET", "/nodes")).status).toBe(403);
});
