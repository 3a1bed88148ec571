/** Operators read, check, change and export settings without a shell: whole, atomically, and without a secret. */
import { readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { type GatewayProcess, startGateway } from "../../support/gateway-process.js";
import { Management } from "../../support/management.js";
import { tollgate } from "../../support/command.js";
import { OPERATOR_KEY } from "../../support/gateway-process.js";

const LITERAL = "literal-credential-of-a-test";
const FILE = `upstreams:
  local: { family: sim }
  other: { family: openai, api_key: ${LITERAL}, base_url: "http://127.0.0.1:9" }
models:
  sim-1: { targets: [{ upstream: local }], price: free, output_tokens_max: 1000 }
accounts:
  acme: { name: Acme, budget_day: "5.00", credit: "1.00" }
keys:
  - { account: acme, name: ci, secret: "\${TEST_KEY}" }
`;
const ALLOWED = "allowed-credential-of-a-test";
const SECRET = "sk-of-a-settings-file-0123456789";

interface File {
  readonly name: string;
  readonly content: string;
  readonly etag: string;
  readonly writable: boolean;
  readonly problem: string;
  readonly in_force: boolean;
}
interface Shown {
  readonly file: File;
  readonly named: readonly { block: string; name: string; source: string; difference: string }[];
}

let gateway: GatewayProcess;
let management: Management;
beforeAll(async () => {
  gateway = await startGateway({
    settings: FILE,
    env: { TEST_KEY: SECRET, ALLOWED_KEY: ALLOWED, TOLLGATE_SECRET_SOURCES: "env:ALLOWED_" },
  });
  management = new Management(gateway);
});
afterAll(async () => {
  await gateway.stop();
  rmSync(gateway.dataDirectory, { recursive: true });
});

const path = (): string => join(gateway.dataDirectory, "tollgate.yaml");
const onDisk = (): string => readFileSync(path(), "utf8");
const show = async (): Promise<Shown> => (await management.call("GET", "/settings")).body as unknown as Shown;
const change = (verb: "check" | "update", content: string, etag: string) =>
  management.call("POST", `/settings:${verb}`, { content, etag });

beforeEach(async () => {
  if (onDisk() === FILE) return;
  gateway.writeSettings(FILE);
  await vi.waitFor(async () => expect((await show()).file.in_force).toBe(true), { timeout: 60_000, interval: 100 });
});

test("the file is shown as it is written, without its secrets, and says where each thing is decided", async () => {
  const { file, named } = await show();
  expect(file).toMatchObject({ name: "tollgate.yaml", writable: true, problem: "", in_force: true });
  expect(file.content).toBe(FILE.replace(LITERAL, '"(kept secret 1)"'));
  expect(named.map(({ block, name, source }) => `${block} ${name} ${source}`)).toEqual(
    expect.arrayContaining(["upstream local file", "model sim-1 file", "account acme database", "key ci database"]),
  );
  expect(named.every(({ difference }) => difference === "")).toBe(true);
});

test("what is changed in the database is named with what the file says otherwise", async () => {
  await management.call("PATCH", "/accounts/acme", { settings: { budget_day: "7.00" } });
  const acme = (await show()).named.find(({ block }) => block === "account");
  expect(acme?.difference).toContain("accounts.acme says other limits (budget_day_nanos)");
  await management.call("PATCH", "/accounts/acme", { settings: { budget_day: "5.00" } });
});

test("a change comes into force at once, keeps its secrets and the file's mode", async () => {
  const { file } = await show();
  const { mode } = statSync(path());
  const content = `${file.content}  - { account: acme, name: more, secret: "sk-another-of-a-settings-file" }\n`;
  expect(await change("check", content, file.etag)).toMatchObject({ status: 200, body: {} });
  const updated = await change("update", content, file.etag);
  expect(updated, JSON.stringify(updated.body)).toMatchObject({ status: 200, body: { file: { in_force: true } } });
  expect(JSON.stringify(updated.body)).not.toContain("sk-another");
  expect(onDisk()).toBe(`${FILE}  - { account: acme, name: more, secret: "sk-another-of-a-settings-file" }\n`);
  expect(statSync(path()).mode).toBe(mode);
  const names = (await show()).named.map(({ name }) => name);
  expect(names).toContain("more");
});

test.each([
  {
    name: "a value",
    content: (text: string) => text.replace("price: free", "price: cheap"),
    place: [5, 51],
    says: "models.sim-1.price",
  },
  {
    name: "a value behind a secret of its line",
    content: (text: string) => text.replace(':9" }', ':9", unknown_members: maybe }'),
    place: [3, 105],
    says: "upstreams.other.unknown_members",
  },
  { name: "no YAML", content: (text: string) => `${text}  bad: [`, place: [10, 1], says: "is not valid YAML" },
  {
    name: "words of no secret",
    content: (text: string) => text.replace("secret 1", "secret 7"),
    place: [3, 37],
    says: "stands for no secret of the file",
  },
  {
    name: "a variable of the gateway's own",
    content: (text: string) => text.replace('"(kept secret 1)"', '"${TOLLGATE_SECRET}"'),
    place: [3, 37],
    says: "must not take TOLLGATE_SECRET",
  },
  {
    name: "a variable that nobody allows",
    content: (text: string) => text.replace('"(kept secret 1)"', '"${PATH}"'),
    place: [3, 37],
    says: "takes PATH for an address that only a file written by hand may give it to",
  },
  {
    name: "a variable in a plain field, set or not",
    content: (text: string) => text.replace("name: Acme", 'name: "${TEST_KEY}"'),
    place: [7, 17],
    says: "accounts.acme.name: takes a variable of the environment",
  },
  {
    name: "another address for a kept secret",
    content: (text: string) => text.replace("127.0.0.1:9", "127.0.0.1:10"),
    place: [3, 37],
    says: "upstreams.other.api_key: is kept for another address",
  },
  {
    name: "a model that cannot be served",
    content: (text: string) => text.replace("price: free, ", ""),
    place: [5, 10],
    says: "models.sim-1",
  },
])("$name is refused with its place, and nothing changes", async ({ content, place, says }) => {
  const { file } = await show();
  const { body } = await change("check", content(file.content), file.etag);
  const [problem] = (body as { problems: { line: number; column: number; problem: string }[] }).problems;
  expect([problem?.line, problem?.column, problem?.problem]).toEqual([...place, expect.stringContaining(says)]);
  const refused = await change("update", content(file.content), file.etag);
  expect(refused.status).toBe(400);
  expect(JSON.stringify(refused.body)).not.toContain(LITERAL);
  expect(onDisk()).toBe(FILE);
  expect((await show()).file.in_force).toBe(true);
});

test("a variable that the start allows may be taken, and a kept secret goes to its own address", async () => {
  const { file } = await show();
  const more = '  more: { family: openai, api_key: "${ALLOWED_KEY}", base_url: "http://127.0.0.1:11" }\n';
  const content = file.content.replace("models:\n", `${more}models:\n`).replace("other:", "renamed:");
  const updated = await change("update", content, file.etag);
  expect(updated, JSON.stringify(updated.body)).toMatchObject({ status: 200, body: { file: { in_force: true } } });
  expect(onDisk()).toContain(`renamed: { family: openai, api_key: ${LITERAL}`);
  expect(JSON.stringify(updated.body)).not.toContain(ALLOWED);
});

test("who read another text changes nothing, and of two at once one does", async () => {
  const { file } = await show();
  expect((await change("update", file.content, "0123456789ab")).status).toBe(409);
  const two = await Promise.all([1, 2].map((at) => change("update", `${file.content}# ${at}\n`, file.etag)));
  expect(two.map(({ status }) => status).toSorted()).toEqual([200, 409]);
});

test("a secret outside of its places is not shown, and keeps the file from being edited", async () => {
  gateway.writeSettings(`# once ${SECRET}\n${FILE}`);
  await vi.waitFor(async () => expect((await show()).file.in_force).toBe(true), { timeout: 60_000, interval: 100 });
  const { file } = await show();
  expect(file.content).not.toContain(SECRET);
  expect(file).toMatchObject({ writable: false, problem: expect.stringContaining("put that into the environment") });
  const refused = await change("update", `${file.content}# more\n`, file.etag);
  expect(refused).toMatchObject({ status: 400 });
});

test("what was made over the API is exported as a file that is right, without a secret", async () => {
  const made = await management.call("POST", "/keys", {
    account_id: "acme",
    settings: { name: "made: here", budget_day: "2.50", models: ["sim-*"] },
  });
  const { stdout, code } = await tollgate(["config", "export", "--gateway", gateway.grpc], {
    TOLLGATE_OPERATOR_KEY: OPERATOR_KEY,
  });
  expect(code).toBe(0);
  const { body } = await management.call("GET", "/settings:export");
  expect(body["content"]).toBe(stdout);
  expect(stdout).toMatch(/^# What was made over the API/);
  expect(stdout).toContain('name: "made: here"');
  expect(stdout).not.toContain(String(made.body["secret"]));
  expect(stdout).not.toContain(SECRET);
});
