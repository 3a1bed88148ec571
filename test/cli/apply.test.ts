/** `tollgate apply` makes the database's objects agree with a file: a plan, and one revision of what has its label. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { CommandResult } from "../support/command.js";
import { commandsOfOneProcess } from "../support/commands.js";
import { type GatewayProcess, OPERATOR_KEY, startGateway } from "../support/gateway-process.js";
import { Management } from "../support/management.js";

const FILE = `x-own: { anything: here }
upstreams:
  vendor: { family: openai, api_key: "\${VENDOR_KEY}" }
models:
  fast: { targets: [{ upstream: vendor, model: gpt-4o-mini }], price: { input: 1, output: 2 } }
  small: { targets: [{ upstream: vendor, model: gpt-4o-mini }], price: free }
accounts:
  acme: {}
`;

const tollgate = commandsOfOneProcess();
const directory = mkdtempSync(join(tmpdir(), "tollgate-apply-"));
const path = join(directory, "objects.yaml");
let gateway: GatewayProcess;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(async () => {
  await gateway.stop();
  rmSync(gateway.dataDirectory, { recursive: true });
  rmSync(directory, { recursive: true });
});

function apply(text: string, ...options: readonly string[]): Promise<CommandResult> {
  writeFileSync(path, text);
  const env = { TOLLGATE_GATEWAY: gateway.grpc, TOLLGATE_OPERATOR_KEY: OPERATOR_KEY, VENDOR_KEY: "sk-of-a-vendor" };
  return tollgate(["apply", "-f", path, ...options], env);
}

const names = async (): Promise<readonly string[]> => {
  const { body } = await new Management(gateway).call("GET", "/settings/objects?source=database");
  return (body["objects"] as { kind: string; name: string }[]).map(({ kind, name }) => `${kind} ${name}`);
};

test("a dry run says what would change, and changes nothing", async () => {
  const { code, stdout, stderr } = await apply(FILE, "--dry-run");
  expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining("Not applied: accounts") });
  expect(stdout).toMatch(/create +upstream +vendor/u);
  expect(stdout).toContain("fast is new");
  expect(await names()).toEqual([]);
});

test("what the file has comes in one revision, and again changes nothing", async () => {
  expect(await apply(FILE)).toMatchObject({ code: 0, stdout: expect.stringContaining("Revision 1 is in force.") });
  expect(await names()).toEqual(["model fast", "model small", "upstream vendor"]);
  expect(await apply(FILE)).toMatchObject({ code: 0, stdout: expect.stringContaining("Revision 1 is in force.") });
});

test("a field that differs is named and changed, and only --prune deletes", async () => {
  const changed = FILE.replace("output: 2", "output: 3").replace(/ {2}small: .*\n/u, "");
  const { code, stdout } = await apply(changed);
  expect(code).toBe(0);
  expect(stdout).toMatch(/update +model +fast +price/u);
  expect(await names()).toContain("model small");
  expect((await apply(changed, "--prune")).stdout).toMatch(/delete +model +small/u);
  expect(await names()).toEqual(["model fast", "upstream vendor"]);
});

test("what another label has, or none, is left alone; what is wrong is refused as a whole", async () => {
  expect(await apply(FILE, "--label", "other")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("is managed by apply"),
  });
  const wrong = FILE.replace("upstream: vendor, model: gpt-4o-mini }], price: free", "upstream: vendr }], price: free");
  expect(await apply(wrong, "--dry-run")).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('did you mean "vendor"?'),
  });
  expect((await apply(wrong)).code).not.toBe(0);
  expect(await names()).toEqual(["model fast", "upstream vendor"]);
});
