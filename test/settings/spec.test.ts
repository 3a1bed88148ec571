/** What the protocol, a settings file and the database say of an object is the same, field by field. */
import type { DescMessage } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { stringify } from "yaml";
import { checkBlocks } from "../../src/config/blocks.js";
import { type JsonSchema, rawSchema } from "../../src/config/editor-schema.js";
import { readSettingsTexts } from "../../src/config/file.js";
import { families } from "../../src/families/index.js";
import { OBJECT_KINDS, placeOfObject } from "../../src/config/object-places.js";
import type { Block } from "../../src/settings/object.js";
import { sorted } from "../../src/settings/object-set.js";
import { blockOfSpec, differingFields, specDescriptor, specOfBlock } from "../../src/settings/spec.js";
import { fc } from "../support/seeds.js";

const RUNS = Number(process.env["TOLLGATE_SWEEP"] === "long" ? 10_000 : 500);

/** The ways to the values of a schema; `*` for a name or an index. */
function leavesOfSchema(schema: JsonSchema, path: string): string[] {
  const {
    properties = {},
    additionalProperties,
    items,
  } = schema as {
    properties?: Record<string, JsonSchema>;
    additionalProperties?: JsonSchema | boolean;
    items?: JsonSchema;
  };
  const below = [
    ...Object.entries(properties).flatMap(([name, one]) => leavesOfSchema(one, `${path}.${name}`)),
    ...[additionalProperties, items].flatMap((one) =>
      typeof one === "object" ? leavesOfSchema(one, `${path}.*`) : [],
    ),
  ];
  return below.length === 0 ? [path] : below;
}

function leavesOfMessage(desc: DescMessage, path: string): string[] {
  return desc.fields.flatMap((field) => {
    const at = `${path}.${field.name}${field.fieldKind === "list" || field.fieldKind === "map" ? ".*" : ""}`;
    return field.message === undefined ? [at] : leavesOfMessage(field.message, at);
  });
}

test.each(OBJECT_KINDS)("each field of a file's %s is one of the protocol, and the other way round", (kind) => {
  const name = { payments: "stripe", metrics: "metrics", prices: "prices" }[kind as string] ?? "any";
  const schema = placeOfObject(kind, name).reduce<JsonSchema>((at, part) => {
    const { properties = {}, additionalProperties } = at as { [member: string]: JsonSchema | undefined };
    return (properties[part] ?? additionalProperties) as JsonSchema;
  }, rawSchema());
  const ofFile = leavesOfSchema(schema, kind);
  // A file writes the word `free` in the place of a price; the protocol has no such words.
  const ofProtocol = leavesOfMessage(specDescriptor(kind), kind).filter((path) => !path.endsWith(".free"));
  expect(new Set(ofProtocol)).toEqual(new Set(ofFile));
});

const decimal = fc.integer({ min: 0, max: 1_000_000 }).map((value) => String(value / 1000));
const whole = fc.integer({ min: 0, max: 1_000_000_000 }).map(String);
const truth = fc.constantFrom("true", "false");
const tokens = { input: decimal, output: decimal };
const optionalTokens = { cache_read: decimal, cache_write: decimal, cache_write_1h: decimal, reasoning: decimal };
const block = (needed: Record<string, fc.Arbitrary<unknown>>, more: Record<string, fc.Arbitrary<unknown>> = {}) =>
  fc.record({ ...needed, ...more }, { requiredKeys: Object.keys(needed) });
const price = fc.oneof(
  fc.constant("free"),
  block(tokens, {
    ...optionalTokens,
    image: decimal,
    audio_input: decimal,
    audio_output: decimal,
    request: decimal,
    tiers: block({ above_input_tokens: fc.constant("200000"), ...tokens }, optionalTokens).map((tier) => [tier]),
    service_tiers: fc.oneof(
      fc.constant({ flex: { multiplier: "0.5" } }),
      block(tokens, optionalTokens).map((priority) => ({ priority })),
    ),
    tools: fc.constant({ web_search: "10.00" }),
    units: block({ usd: decimal }, { per: fc.constant("1000"), step: fc.constant("2") }).map((rate) => ({
      search_unit: rate,
    })),
  }),
);
const facts = block(
  {},
  {
    images: truth,
    tools: truth,
    schemas: truth,
    sampling: fc.constantFrom("both", "one", "none"),
    efforts: fc.constantFrom(["low"], ["low", "high"]),
    stream_only: truth,
  },
);
const modelBlock = block(
  {
    targets: fc.uniqueArray(fc.constantFrom("one", "two"), { minLength: 1 }).chain((names) =>
      fc.tuple(
        ...names.map((upstream) =>
          block(
            { upstream: fc.constant(upstream) },
            {
              model: fc.constant("Own"),
              weight: fc.constantFrom("1", "0.5", "0"),
              priority: fc.constantFrom("1", "7"),
              cost: price,
            },
          ),
        ),
      ),
    ),
  },
  {
    kind: fc.constantFrom("chat", "embedding", "rerank"),
    context_tokens: fc.constantFrom("1000", "1000000"),
    output_tokens_max: fc.constantFrom("1", "64000"),
    stream_head_ms: fc.constant("5000"),
    affinity: fc.constantFrom("auto", "off"),
    hosted_tools: fc.constantFrom("refuse", "drop"),
    price,
    facts,
    retires: fc.constant("2030-01-31"),
  },
);

test("a random model is the same in the protocol, in a file and in the database", () => {
  const upstreams = {
    one: { family: "openai", api_key: "sk-1-of-a-test" },
    two: { family: "mistral", api_key: "sk-2-of-a-test" },
  };
  fc.assert(
    fc.property(modelBlock, (random) => {
      const models = { m: random as Block };
      const read = checkBlocks({ upstreams, models }, families);
      expect(read.problems).toEqual([]);
      const again = blockOfSpec(specOfBlock("model", models.m));
      // What a block says by leaving it out, the protocol may leave out too: what is read of both is the same.
      expect(checkBlocks({ upstreams, models: { m: again } }, families).settings).toEqual(read.settings);
      expect(sorted(blockOfSpec(specOfBlock("model", again)))).toEqual(sorted(again));
      const text = stringify({ upstreams, models: { m: again } });
      expect(readSettingsTexts([{ name: "tollgate.yaml", text }], {}, families).settings).toEqual(read.settings);
    }),
    { numRuns: RUNS },
  );
});

const counts = { requests_per_minute: whole, tokens_per_minute: whole, concurrency: whole };
const ownLimits = {
  ...counts,
  budget_day: decimal,
  budget_month: decimal,
  budget_total: decimal,
  request_cost_max: decimal,
};
const planBlock = block(
  {},
  {
    ...ownLimits,
    models: fc.dictionary(fc.constantFrom("gpt-*", "o1", "*"), block({}, counts), { maxKeys: 3 }),
    content: block(
      {},
      {
        allowed: truth,
        redactions: fc.constantFrom(["###-##-####"], ["*@*", "key-*"]),
        body_bytes_max: fc.constantFrom("0", "1048576"),
        total_bytes_max: fc.constantFrom("0", "17179869184"),
      },
    ),
    members: block({}, ownLimits),
    keys: block({}, { ...ownLimits, expires_after_days: fc.constantFrom("0", "3650") }),
  },
);

test("a random plan is the same in the protocol, in a file and in the database", () => {
  fc.assert(
    fc.property(planBlock, (random) => {
      const plans = { p: random as Block };
      const read = checkBlocks({ plans }, families);
      expect(read.problems).toEqual([]);
      const again = blockOfSpec(specOfBlock("plan", plans.p));
      expect(checkBlocks({ plans: { p: again } }, families).settings).toEqual(read.settings);
      expect(sorted(blockOfSpec(specOfBlock("plan", again)))).toEqual(sorted(again));
      expect(differingFields("plan", specOfBlock("plan", again), again)).toEqual([]);
      const text = stringify({ plans: { p: again } });
      expect(readSettingsTexts([{ name: "tollgate.yaml", text }], {}, families).settings).toEqual(read.settings);
    }),
    { numRuns: RUNS },
  );
});

test.each([
  { name: "a name", plans: { Team: {} }, rule: /must be named by 1 to 64/ },
  { name: "a field", plans: { a: { budget: "1" } }, rule: /did you mean "budget_day"|is not known here/ },
  { name: "an amount", plans: { a: { members: { budget_day: "-1" } } }, rule: /must be USD/ },
  { name: "a pattern", plans: { a: { content: { redactions: ["a**"] } } }, rule: /not side by side/ },
  { name: "a time", plans: { a: { keys: { expires_after_days: "3651" } } }, rule: /from 0 to 3650/ },
  {
    name: "too many models",
    plans: { a: { models: Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`m${index}`, {}])) } },
    rule: /at most 100/,
  },
])("a plan with a wrong $name is refused with the rule", ({ plans, rule }) => {
  const { problems } = checkBlocks({ plans: plans as Record<string, Block> }, families);
  expect(problems.map((one) => one.rule).join()).toMatch(rule);
});

test.each([
  {
    kind: "upstream" as const,
    said: {
      family: "openai",
      api_key: "env:A",
      base_url: "http://a/v1",
      unknown_members: "refuse",
      prompt_cache: "off",
    },
  },
  {
    kind: "issuer" as const,
    said: {
      issuer: "https://login.example.com/",
      client_id: "tollgate",
      client_secret: "env:A",
      email_domains: ["example.com"],
      new_people: { account: "acme", role: "viewer" },
    },
  },
  {
    kind: "payments" as const,
    said: { secret_key: "sk_1", webhook_secret: "whsec_1", console_url: "https://a/console", amounts: ["5", "7.50"] },
  },
  { kind: "alias" as const, said: { model: "gpt-4o" } },
  { kind: "metrics" as const, said: { accounts: ["acme", "other"] } },
  { kind: "prices" as const, said: { refresh: "propose", url: "https://a.example/p.json", keys: ["a2V5"] } },
])("an object of the kind $kind is the same in the protocol and in a file", ({ kind, said }) => {
  expect(blockOfSpec(specOfBlock(kind, said))).toEqual(said);
});
