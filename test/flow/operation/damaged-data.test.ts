/** A start over damaged data ends with one line that names the file and the remedy, and with one exit code. */
import { cpSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Sqlite } from "../../../src/store/sqlite/binding.js";
import { tollgate } from "../../support/command.js";
import { type GatewayProcess, startGateway } from "../../support/gateway-process.js";
import { Management } from "../../support/management.js";

const UNUSABLE = 8;
const base = mkdtempSync(join(tmpdir(), "tollgate-damaged-"));
const whole = join(base, "whole");
let secret = "";

beforeAll(async () => {
  const gateway = await startGateway({ env: { TOLLGATE_SECRET: "a root secret of this test, long enough" } });
  const management = new Management(gateway);
  await management.account("acme", 1_000n);
  secret = (await management.makeKey("acme")).secret;
  expect(await keptAnswer(gateway), "an answer is kept").toBe(200);
  expect(await gateway.stop()).toBe(0);
  cpSync(gateway.dataDirectory, whole, { recursive: true });
  rmSync(gateway.dataDirectory, { recursive: true });
});
afterAll(() => rmSync(base, { recursive: true, force: true }));

async function keptAnswer({ url }: GatewayProcess): Promise<number> {
  const answer = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${secret}`, "content-type": "application/json", "idempotency-key": "one" },
    body: JSON.stringify({ model: "sim-1", messages: [{ role: "user", content: "Hello" }] }),
  });
  await answer.text();
  return answer.status;
}

const zeros = (path: string): void => writeFileSync(path, readFileSync(path).fill(0, 0, 100));
const rename = (sql: string) => (path: string) => {
  const database = new Sqlite(path);
  database.exec(sql);
  database.close();
};

test.each([
  {
    name: "tollgate.db",
    what: "a renamed column",
    damage: rename("ALTER TABLE key RENAME COLUMN hint TO hint_x"),
    says: /'key' has no column 'hint'/,
  },
  { name: "answers.db", what: "a header of zeros", damage: zeros, says: /answers\.db' is damaged/ },
  {
    name: "records.db",
    what: "half of it",
    damage: (path: string) => truncateSync(path, 8_192),
    says: /records\.db' is damaged/,
  },
  {
    name: "content.db",
    what: "a renamed table",
    damage: rename("ALTER TABLE content_key RENAME TO content_x"),
    says: /content\.db' does not fit.*'content_key'/,
  },
  {
    name: "witness.json",
    what: "no witness",
    damage: (path: string) => writeFileSync(path, "{}"),
    says: /witness\.json is damaged/,
  },
])("$name with $what refuses the start by its name, with exit code 8", async ({ name, damage, says }) => {
  const directory = mkdtempSync(join(base, "case-"));
  cpSync(whole, directory, { recursive: true });
  damage(join(directory, name));
  const { code, stderr, stdout } = await tollgate(["serve"], {
    TOLLGATE_HTTP: "127.0.0.1:0",
    TOLLGATE_GRPC: "127.0.0.1:0",
    TOLLGATE_SECRET: "a root secret of this test, long enough",
    TOLLGATE_DATA: directory,
  });
  expect(stderr).toMatch(/^tollgate: [^\n]+\n$/);
  expect(stderr).toMatch(says);
  expect(stderr).toMatch(/Restore/);
  expect(stdout).not.toContain('"msg":"ready"');
  expect(code).toBe(UNUSABLE);
});
