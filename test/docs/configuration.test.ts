/** What people read of the settings is what the program reads: the page, the schema for editors, and the examples. */
import { readdirSync, readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { editorSchema } from "../../src/config/editor-schema.js";
import { readEnvironment } from "../../src/config/environment.js";
import { parseSettings } from "../support/parse-settings.js";
import { variables } from "../../src/config/variables.js";
import { families } from "../../src/families/index.js";
import { FAMILY_NAMES } from "../../src/serve/settings-check.js";
import { configurationPage, settingKeys } from "../support/configuration-page.js";
import { expectMade, expectMadeBelow } from "../support/reference-page.js";

const accepts = new Ajv2020({ strict: true, allowUnionTypes: true, strictRequired: false }).compile(
  editorSchema(FAMILY_NAMES),
);
const read = (text: string): unknown => parse(text, { merge: true });

test("docs/configuration.md lists every variable and every key of a settings file", () => {
  expectMadeBelow("docs/configuration.md", configurationPage());
});

test("schemas/tollgate.schema.json is the schema that the program prints", () => {
  expectMade("schemas/tollgate.schema.json", `${JSON.stringify(editorSchema(FAMILY_NAMES), null, 2)}\n`);
});

test("every variable and every key says what it is, and shows what it is without it", () => {
  const keys = settingKeys();
  expect(keys.length).toBeGreaterThan(80);
  expect(keys.filter(({ description }) => !/^[A-Z]/.test(description)).map(({ path }) => path)).toEqual([]);
  expect(variables().filter(({ description }) => !/^[A-Z`]/.test(description))).toEqual([]);
  expect(keys.find(({ path }) => path === "models.<name>.targets[].weight")?.default).toBe("1");
  expect(variables().find(({ name }) => name === "TOLLGATE_LAME_DUCK_MS")?.default).toBe("5000");
});

test("a variable that is documented is no surprise to a start, and the defaults are right", () => {
  const defaults = variables().filter((one) => one.default !== undefined && one.name !== "TOLLGATE_DATA");
  const env = Object.fromEntries(defaults.map((one) => [one.name, one.default]));
  expect({ ...readEnvironment(env, "/nowhere") }).toEqual(readEnvironment({}, "/nowhere"));
  const commands = variables().filter(({ reader }) => reader === "commands");
  const set = Object.fromEntries(commands.map(({ name }) => [name, "x"]));
  expect(readEnvironment(set, "/nowhere").warnings).toEqual([]);
});

const PAGES = [
  "README.md",
  ...readdirSync("docs")
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`),
];
const EXAMPLES = [
  { name: "examples/compose/tollgate.yaml", text: readFileSync("examples/compose/tollgate.yaml", "utf8") },
  ...PAGES.flatMap((page) =>
    [...readFileSync(page, "utf8").matchAll(/^( *)```yaml\n([^]*?)^ *```/gm)]
      .map(([, indent = "", text = ""], index) => ({
        name: `example ${index + 1} of ${page}`,
        text: text.replaceAll(new RegExp(`^${indent}`, "gm"), ""),
      }))
      .filter(({ text }) => /^(upstreams|models|accounts|keys|metrics|alerts|exports):/m.test(text)),
  ),
];
const ENV = Object.fromEntries(
  EXAMPLES.flatMap(({ text }) => [...text.matchAll(/\$\{(\w+)\}/g)]).map(([, name = ""]) => [
    name,
    `sk-${"x".repeat(20)}`,
  ]),
);

describe("examples of settings", () => {
  test.each(EXAMPLES)("$name is what an editor takes", ({ text }) => {
    expect({ is: accepts(read(text)), errors: accepts.errors }).toEqual({ is: true, errors: null });
  });

  test("there are some, and each that names its upstreams is what the program takes", () => {
    expect(EXAMPLES.length).toBeGreaterThan(3);
    for (const { text } of EXAMPLES.filter(({ text }) => text.includes("upstreams:"))) parseSettings(text, ENV);
  });
});

const WHOLE = `
x-shared: &limits { requests_per_minute: 60 }
upstreams:
  openai: { family: openai, api_key: "\${KEY}", unknown_members: refuse }
  empty: { family: ollama, base_url: "http://127.0.0.1:11434/v1" }
models:
  a: { targets: [{ upstream: openai, weight: 0.5, priority: "2" }], price: free, kind: chat, retires: 2027-01-31 }
  b:
    targets: [{ upstream: openai, cost: { input: 1, output: "2" } }]
    price:
      input: 0.25
      output: 1
      tiers: [{ above_input_tokens: 10, input: 1, output: 2 }]
      service_tiers: { flex: { multiplier: 0.5 } }
      tools: { web_search: 10 }
    facts: { images: true, thinking: budget, budgets: { low: 1024 }, efforts: [low] }
accounts:
  acme:
  other: { credit: 25, models: { "gpt-*": *limits }, <<: *limits }
keys:
  - { account: acme, secret: "\${SECRET}", scopes: [chat], strict: true, expires: 2027-01-01T00:00:00Z }
metrics: { accounts: [acme] }
alerts: { low: { kind: balance_low, amount: 5, emails: [ops@example.com] } }
exports: { directory: /var/lib/tollgate/exports, formats: [csv, focus] }
payments:
  stripe:
    { secret_key: sk_test_1, webhook_secret: "\${HOOK}", console_url: "https://a.example/console", amounts: [10, "25"] }
`;

test("what the program takes, an editor takes", () => {
  parseSettings(WHOLE, { KEY: "k", SECRET: `sk-${"x".repeat(20)}`, HOOK: "whsec_1" });
  expect({ is: accepts(read(WHOLE)), errors: accepts.errors }).toEqual({ is: true, errors: null });
});

test.each([
  { name: "a mistyped key", text: "upstream: {}" },
  { name: "a mistyped key in a block", text: "upstreams: { a: { famly: openai } }" },
  { name: "a missing key", text: "upstreams: { a: {} }" },
  { name: "a family that is none", text: "upstreams: { a: { family: opena } }" },
  { name: "a number below its least", text: "models: { a: { targets: [{ upstream: a, priority: 0 }] } }" },
  { name: "a broken number", text: 'models: { a: { targets: [{ upstream: a }], context_tokens: "many" } }' },
  { name: "another word than free", text: "models: { a: { targets: [{ upstream: a }], price: cheap } }" },
  { name: "a word of none", text: "keys: [{ account: a, secret: x, scopes: [chats] }]" },
  { name: "a model without targets", text: "models: { a: { targets: [] } }" },
  { name: "a truth that is none", text: "keys: [{ account: a, secret: x, strict: perhaps }]" },
])("an editor marks $name, which the program refuses", ({ text }) => {
  expect(accepts(read(text))).toBe(false);
  expect(() => parseSettings(text, {}, { families })).toThrow();
});
