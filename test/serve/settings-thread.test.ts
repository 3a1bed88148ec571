/** Texts of settings are read beside the event loop, within bounds of time and memory, whatever they say. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { afterAll, expect, test } from "vitest";
import { ConfigError } from "../../src/config/config-error.js";
import { readSettingsFile } from "../../src/config/file.js";
import { families } from "../../src/families/index.js";
import { type MakeThread, SettingsThread } from "../../src/serve/settings-thread.js";
import { fc } from "../support/seeds.js";

const directory = mkdtempSync(join(tmpdir(), "settings-thread-"));
afterAll(() => rmSync(directory, { recursive: true }));

const BEFORE = "upstreams: { local: { family: sim } }\n";
const edit = (text: string) => ({
  text: { name: "tollgate.yaml", text },
  included: [],
  before: BEFORE,
  env: {},
  sources: [],
});
const running =
  (script: string): MakeThread =>
  () =>
    new Worker(script, { eval: true, resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2 } });

test("a text is checked as a start would, with what its models would be sold at", async () => {
  const { problems, models } = await new SettingsThread().check(
    edit(
      `${BEFORE}models:\n  m: { targets: [{ upstream: local, cost: { input: 3, output: 4 } }], price: { input: 1, output: 9 }, output_tokens_max: 9 }\n`,
    ),
  );
  expect(problems).toEqual([]);
  expect(models).toMatchObject([
    {
      id: "m",
      price: { inputPicos: 1_000_000n, outputPicos: 9_000_000n },
      source: "of the settings",
      losses: [expect.stringContaining("its target local 'm' costs more than 'm' is sold for")],
    },
  ]);
});

const WHOLE = `upstreams:
  local: { family: sim }
  openai: { family: openai, api_key: "\${KEY}", unknown_members: refuse }
models:
  m:
    targets: [{ upstream: local, weight: 2.5, cost: free }, { upstream: openai, model: gpt-4o, priority: 2 }]
    price: { input: 1, output: 2, tiers: [{ above_input_tokens: 9, input: 3, output: 4 }], tools: { web_search: 10 } }
    output_tokens_max: 100
    facts: { images: true, efforts: [low, high] }
    retires: 2027-01-31
accounts: { acme: { credit: 5, models: { "gpt-*": { concurrency: 2 } } } }
keys: [{ account: acme, secret: sk-0123456789abcdef01, expires: "2027-01-01T00:00:00Z", metadata: { team: a } }]
metrics: { accounts: [acme] }
alerts: { low: { kind: balance_low, account: acme, amount: 5, emails: [ops@example.com] } }
exports: { directory: /tmp, formats: [csv, focus] }
payments: { stripe: { secret_key: sk_test_1, webhook_secret: whsec_1, console_url: "https://x.example/console" } }
identity: { oidc: { corp: { issuer: "https://login.example.com", client_id: a, new_people: { account: acme } } } }
`;

test("a file is read as it is on the loop, and what shows later has its place", async () => {
  const path = join(directory, "tollgate.yaml");
  writeFileSync(path, WHOLE);
  const env = { KEY: "credential-of-a-test" };
  const file = await new SettingsThread().read(path, env, "tollgate.yaml");
  const here = readSettingsFile(path, env, families);
  expect(file).toMatchObject({ settings: here.settings, version: here.version });
  expect(file.settings).toEqual(here.settings);
  const late = [{ path: ["models", "m"], rule: "cannot be served" }];
  expect((await file.refusal(late)).problems).toEqual((await here.refusal(late)).problems);
  writeFileSync(path, WHOLE.replace("family: sim", "family: simm"));
  await expect(new SettingsThread().read(path, env, "tollgate.yaml")).rejects.toThrow(ConfigError);
});

test.each([
  { name: "never ends", script: "while (true) {}", answerMsMax: 1 },
  {
    name: "takes all memory",
    script: "const all = []; while (true) all.push({ at: all.length });",
    answerMsMax: 600_000,
  },
])("a text whose thread $name is refused", async ({ script, answerMsMax }) => {
  const thread = new SettingsThread(running(script), answerMsMax);
  const { problems } = await thread.check(edit("upstreams: {}"));
  expect(problems).toEqual([{ line: 0, column: 0, problem: expect.stringContaining("too much time or memory") }]);
  await expect(thread.hide("upstreams: {}")).rejects.toMatchObject({ reason: "ERROR_REASON_OVERLOADED" });
  const path = join(directory, "heavy.yaml");
  writeFileSync(path, BEFORE);
  await expect(thread.read(path, {}, "heavy.yaml")).rejects.toThrow(ConfigError);
});

test("so many texts wait, and one more is refused", async () => {
  const thread = new SettingsThread(running("while (true) {}"), 1);
  const waiting = Array.from({ length: 16 }, () => thread.check(edit("upstreams: {}")));
  await expect(thread.check(edit("upstreams: {}"))).rejects.toMatchObject({ reason: "ERROR_REASON_OVERLOADED" });
  expect(await Promise.all(waiting)).toHaveLength(16);
  expect((await thread.check(edit("upstreams: {}"))).problems).toHaveLength(1);
});

const BYTES = 60_000;
const filled = (piece: (at: number) => string): string => {
  const pieces: string[] = [];
  for (let at = 0, bytes = 0; bytes < BYTES; at += 1) bytes += pieces[pieces.push(piece(at)) - 1]?.length ?? 0;
  return pieces.join("");
};
const manyNames = Array.from({ length: 2_000 }, (_, at) => `k${at}: x`).join(", ");
const HEAVY = {
  merges: `a: &a { ${manyNames} }\nb: { <<: [${"*a, ".repeat(5_000)}] }\n`,
  "aliases of aliases": `x-0: &a0 [x]\n${filled((at) => `x-${at + 1}: &a${at + 1} [${`*a${at}, `.repeat(9)}]\n`)}`,
  depth: `a: ${"[".repeat(BYTES / 2)}`,
  models: `${BEFORE}models:\n${filled((at) => `  gpt-${at}: { targets: [{ upstream: local }], price: free }\n`)}`,
  "wrong names": `models:\n${filled((at) => `  m: { "a${at}": x }\n`)}`,
  secrets: `x-k: &k sk-0123456789abcdef01\nkeys:\n${filled(() => "- { account: a, secret: *k }\n")}`,
  references: `accounts:\n${filled((at) => `  a${at}: { name: "\${A}\${B}" }\n`)}`,
  quotes: `a: "${filled(() => "\\u0041\\n")}"`,
};

test.each(Object.entries(HEAVY))("%s leave the loop free while they are checked", async (_, heavy) => {
  const [cut = 0] = fc.sample(fc.integer({ min: 0, max: 60 }), 1);
  let turns = 0;
  let isOver = false;
  const turn = (): void => {
    turns += 1;
    if (!isOver) setImmediate(turn);
  };
  turn();
  const { problems } = await new SettingsThread().check(edit(heavy.slice(0, heavy.length - cut)));
  isOver = true;
  expect(Array.isArray(problems)).toBe(true);
  // A check on the loop lets it turn a few times in all.
  expect(turns).toBeGreaterThan(100);
});

test("what reads a text is not called where requests are served", () => {
  for (const name of ["settings-board", "settings-thread"]) {
    const source = readFileSync(`src/serve/${name}.ts`, "utf8");
    const imported = [...source.matchAll(/^import (?!type\b)[^;]*? from "([^"]+)";/gm)].map(([, from]) => from);
    expect(imported).not.toEqual([]);
    const readers = /kept-secrets|config\/document|config\/taken|settings-check|settings-edit/;
    expect(imported.filter((from) => readers.test(from ?? ""))).toEqual([]);
  }
});
