/** The settings file: what it means. */
import { describe, expect, test } from "vitest";
import { fc } from "../support/seeds.js";
import { parseSettings } from "../support/parse-settings.js";
import { KEY_SCOPES } from "../../src/config/key-schema.js";
import { SCOPES } from "../../src/keys/caller.js";

const DESIGNED = `
upstreams:
  openai:  { family: openai, api_key: "\${OPENAI_API_KEY}" }
  local:   { family: openai-compatible, base_url: "http://127.0.0.1:11434/v1/", unknown_members: refuse }
models:
  gpt-5.4-mini:
    targets: [{ upstream: openai, weight: 1 }, { upstream: local, model: "qwen3:8b", priority: 2 }]
    context_tokens: 400000
    output_tokens_max: 128000
    price: { input: "0.25", cache_read: "0.025", output: "2.00" }   # USD per million tokens
  sim: { targets: [{ upstream: local }], price: free }
  bare: { targets: [{ upstream: local, weight: 0.5 }], kind: embedding }
accounts:
  acme:
    { credit: "25.00", budget_day: "5.00", budget_month: 6, budget_total: 7.5, request_cost_max: "0.000000001",
      requests_per_minute: 900, concurrency: 8, models: { "gpt-*": { tokens_per_minute: 50000 } } }
  empty:
keys:
  - { account: acme, name: ci, secret: "\${CI_KEY}", models: ["gpt-*"], requests_per_minute: 600 }
`;
const ENV = { OPENAI_API_KEY: "sk-upstream", CI_KEY: "sk-0123456789abcdef" };
const NO_LIMITS = {
  scopes: [],
  models: [],
  modelsDenied: [],
  addresses: [],
  expireTime: undefined,
  requestsPerMinute: 0n,
  tokensPerMinute: 0n,
  concurrency: 0n,
  budgetDayNanos: 0n,
  budgetWeekNanos: 0n,
  budgetMonthNanos: 0n,
  budgetQuarterNanos: 0n,
  budgetTotalNanos: 0n,
  requestCostMaxNanos: 0n,
  refuseUnaffordable: false,
  metadata: {},
  retriesRunAnew: false,
  strict: false,
  childrenEndWithIt: false,
  endStreamsOnRevoke: true,
  endStreamsOnExpiry: false,
  cacheMarksOff: false,
};

describe("anchors", () => {
  const PRICE = { inputPicos: 250_000n, outputPicos: 2_000_000n };
  const file = (price: string): string => `
x-prices: { small: &small { input: "0.25", output: "2.00" }, dear: &dear { input: "9", cache_read: "0.5" } }
upstreams: { local: { family: openai-compatible, base_url: "http://h/v1" } }
models: { m: { targets: [{ upstream: local }], price: ${price} } }
`;
  test.each([
    { name: "an alias", price: "*small", want: PRICE },
    { name: "a merge", price: "{ <<: *small }", want: PRICE },
    {
      name: "a merge under what is said",
      price: '{ <<: *small, output: "3" }',
      want: { ...PRICE, outputPicos: 3_000_000n },
    },
    { name: "merges, the first first", price: "{ <<: [*small, *dear] }", want: { ...PRICE, cacheReadPicos: 500_000n } },
  ])("$name", ({ price, want }) => {
    expect(parseSettings(file(price), {}).models[0]?.price).toMatchObject(want);
  });

  test.each([
    { name: "a merge of no mapping", price: "{ <<: 7 }", want: "4:61 models.m.price: merges (<<) what is no mapping" },
    { name: "a quoted name", price: '{ "<<": *small }', want: '4:57 models.m.price["<<"]: is not known here' },
    { name: "a merge of itself", price: "&me { <<: *me }", want: "is nested deeper than 32 levels" },
  ])("$name is refused", ({ price, want }) => {
    expect(() => parseSettings(file(price), {})).toThrow(want);
  });

  test("a problem in what was merged is told where it is written", () => {
    const text = file("{ <<: *small }").replace('"0.25"', '"much"');
    expect(() => parseSettings(text, {})).toThrow("tollgate.yaml:2:36 models.m.price.input: must be");
  });
});

describe("a good file", () => {
  test("reads whole", () => {
    const settings = parseSettings(DESIGNED, ENV);
    expect(settings.upstreams).toEqual([
      {
        id: "openai",
        family: "openai",
        apiKey: "sk-upstream",
        baseUrl: undefined,
        unknownMembers: "pass",
        passesUnifiedLimits: false,
      },
      {
        id: "local",
        family: "openai-compatible",
        apiKey: undefined,
        baseUrl: "http://127.0.0.1:11434/v1",
        unknownMembers: "refuse",
        passesUnifiedLimits: false,
      },
    ]);
    expect(settings.models.map((model) => model.id)).toEqual(["gpt-5.4-mini", "sim", "bare"]);
    expect(settings.models[0]).toMatchObject({
      targets: [
        { upstream: "openai", model: "gpt-5.4-mini", weight: 1, priority: 1 },
        { upstream: "local", model: "qwen3:8b", weight: 1, priority: 2 },
      ],
      contextTokens: 400_000,
      outputTokensMax: 128_000,
    });
    expect(settings.models[2]).toEqual({
      id: "bare",
      targets: [{ upstream: "local", model: "bare", weight: 0.5, priority: 1 }],
      kind: "embedding",
      contextTokens: undefined,
      outputTokensMax: undefined,
      price: undefined,
      facts: {},
      hostedTools: "refuse",
      affinity: "auto",
      cacheMarks: "off",
      cacheMarksTtl: "5m",
      balance: "weight",
    });
    expect(settings.accounts).toEqual([
      {
        id: "acme",
        name: "acme",
        plan: "",
        creditNanos: 25_000_000_000n,
        budgets: {
          budgetDayNanos: 5_000_000_000n,
          budgetWeekNanos: 0n,
          budgetMonthNanos: 6_000_000_000n,
          budgetQuarterNanos: 0n,
          budgetTotalNanos: 7_500_000_000n,
          requestCostMaxNanos: 1n,
        },
        limits: {
          requestsPerMinute: 900n,
          tokensPerMinute: 0n,
          concurrency: 8n,
          modelLimits: [{ model: "gpt-*", requestsPerMinute: 0n, tokensPerMinute: 50_000n, concurrency: 0n }],
        },
      },
      {
        id: "empty",
        name: "empty",
        plan: "",
        creditNanos: 0n,
        budgets: {
          budgetDayNanos: 0n,
          budgetWeekNanos: 0n,
          budgetMonthNanos: 0n,
          budgetQuarterNanos: 0n,
          budgetTotalNanos: 0n,
          requestCostMaxNanos: 0n,
        },
        limits: { requestsPerMinute: 0n, tokensPerMinute: 0n, concurrency: 0n, modelLimits: [] },
      },
    ]);
    expect(settings.keys).toEqual([
      {
        accountId: "acme",
        secret: "sk-0123456789abcdef",
        settings: { ...NO_LIMITS, name: "ci", models: ["gpt-*"], requestsPerMinute: 600n },
      },
    ]);
  });

  test("a key's every setting has a name in the file", () => {
    const text = `
accounts: { acme: }
keys:
  - account: acme
    secret: sk-0123456789abcdef
    name: all
    scopes: [chat, operator]
    models: ["*"]
    models_denied: [gpt-*]
    addresses: [10.0.0.0/8, 192.0.2.7, "2001:db8::/32", "::1"]
    expires: 2027-01-01T00:00:00+01:00
    requests_per_minute: 1
    tokens_per_minute: 2
    concurrency: 3
    budget_day: "5.00"
    budget_month: 6
    budget_total: 7.5
    request_cost_max: "0.000000001"
    refuse_unaffordable: true
    strict: true
    metadata: { team: "a b", cost_center: 0042 }
    retries_run_anew: true
    children_end_with_it: true
    end_streams_on_revoke: false
    end_streams_on_expiry: true
    cache_marks_off: true
`;
    expect(parseSettings(text, {}).keys[0]?.settings).toEqual({
      name: "all",
      scopes: ["chat", "operator"],
      models: ["*"],
      modelsDenied: ["gpt-*"],
      addresses: ["10.0.0.0/8", "192.0.2.7/32", "2001:db8::/32", "::1/128"],
      expireTime: new Date("2026-12-31T23:00:00Z"),
      requestsPerMinute: 1n,
      tokensPerMinute: 2n,
      concurrency: 3n,
      budgetDayNanos: 5_000_000_000n,
      budgetWeekNanos: 0n,
      budgetMonthNanos: 6_000_000_000n,
      budgetQuarterNanos: 0n,
      budgetTotalNanos: 7_500_000_000n,
      requestCostMaxNanos: 1n,
      refuseUnaffordable: true,
      strict: true,
      metadata: { team: "a b", cost_center: "0042" },
      retriesRunAnew: true,
      childrenEndWithIt: true,
      endStreamsOnRevoke: false,
      endStreamsOnExpiry: true,
      cacheMarksOff: true,
    });
  });

  test.each(["# all is commented out\n", "upstreams:\nmodels:\naccounts:\nkeys:\n", "{}", "--- {}\n"])(
    "%j says nothing, which is allowed",
    (text) => {
      expect(parseSettings(text, {})).toEqual({
        upstreams: [],
        models: [],
        aliases: [],
        plans: [],
        manage: false,
        accounts: [],
        keys: [],
        metrics: { accounts: [] },
        prices: { refresh: "pinned", keys: [] },
        alerts: [],
        exports: { directory: undefined, formats: ["csv"] },
        payments: { stripe: undefined },
        identity: { issuers: [] },
      });
    },
  );

  test("the scopes are those that keys know", () => {
    expect(KEY_SCOPES).toEqual(SCOPES);
  });
});

describe("a price", () => {
  const ALL = [
    "inputPicos",
    "cacheReadPicos",
    "cacheWritePicos",
    "cacheWrite1hPicos",
    "outputPicos",
    "reasoningPicos",
    "imagePicos",
    "audioInputPicos",
    "audioOutputPicos",
    "requestPicos",
  ];
  test.each([
    { said: "free", want: [0n, 0n, 0n, 0n, 0n, 0n, 0n, 0n, 0n, 0n] },
    {
      said: "{ input: 0.25, output: 2 }",
      want: [250000n, 250000n, 250000n, 250000n, 2000000n, 2000000n, 250000n, 250000n, 2000000n, 0n],
    },
    {
      said: "{ input: 3, cache_write: 3.75, output: 15 }",
      want: [3000000n, 3000000n, 3750000n, 3750000n, 15000000n, 15000000n, 3000000n, 3000000n, 15000000n, 0n],
    },
    {
      said:
        "{ input: 1, cache_read: 2, cache_write: 3, cache_write_1h: 4, output: 5, reasoning: 6, image: 7, " +
        "audio_input: 8, audio_output: 9, request: 0.000000000001 }",
      want: [1000000n, 2000000n, 3000000n, 4000000n, 5000000n, 6000000n, 7000000n, 8000000n, 9000000n, 1n],
    },
    {
      said: "{ input: 0.000001, output: 0, request: 0.01 }",
      want: [1n, 1n, 1n, 1n, 0n, 0n, 1n, 1n, 0n, 10_000_000_000n],
    },
  ])("$said", ({ said, want }) => {
    const plain = { tiers: [], serviceTiers: [], tools: [], rates: [], tokensUnpriced: false };
    const wanted = Object.fromEntries(ALL.map((name, index) => [name, want[index]]));
    expect(modelWithPrice(said)?.price).toEqual({ ...wanted, ...plain });
  });

  test("has tiers by length, service tiers and tools", () => {
    const price = modelWithPrice(
      "{ input: 3, output: 15, tiers: [{ above_input_tokens: 200000, input: 6, output: 22.5 }], " +
        "service_tiers: { batch: { multiplier: 0.5 }, priority: { input: 9, output: 45 } }, " +
        'tools: { web_search: "10.00" } }',
    )?.price;
    const ten = (values: readonly bigint[]): object =>
      Object.fromEntries(ALL.map((name, index) => [name, values[index]]));
    const short = (input: bigint, output: bigint): object =>
      ten([input, input, input, input, output, output, input, input, output, 0n]);
    expect(price).toEqual({
      ...short(3_000_000n, 15_000_000n),
      tiers: [{ aboveInputTokens: 200_000n, prices: short(6_000_000n, 22_500_000n) }],
      serviceTiers: [
        {
          name: "batch",
          prices: short(1_500_000n, 7_500_000n),
          tiers: [{ aboveInputTokens: 200_000n, prices: short(3_000_000n, 11_250_000n) }],
        },
        { name: "priority", prices: short(9_000_000n, 45_000_000n), tiers: [] },
      ],
      tools: [{ name: "web_search", callPicos: 10_000_000_000n }],
      rates: [],
      tokensUnpriced: false,
    });
  });

  test.each([
    {
      said: '{ units: { search_unit: "2.00" } }',
      want: { picos: 2_000_000_000_000n, per: 1_000n, step: 1n, minimum: 0n },
    },
    {
      said: "{ units: { search_unit: { usd: 0.04, per: 3600000, step: 10, minimum: 10000 } } }",
      want: { picos: 40_000_000_000n, per: 3_600_000n, step: 10n, minimum: 10_000n },
    },
  ])("of a unit alone, $said, has no price for tokens", ({ said, want }) => {
    const price = modelWithPrice(said)?.price;
    expect(price?.rates).toEqual([{ unit: "search_unit", variant: "", ...want }]);
    expect(price).toMatchObject({ inputPicos: 0n, tokensUnpriced: true });
  });

  test("of tokens and a unit has both", () => {
    const price = modelWithPrice("{ input: 1, output: 0, units: { search_unit: 0, search_unit/long: 3 } }")?.price;
    expect(price).toMatchObject({ inputPicos: 1_000_000n, tokensUnpriced: false });
    expect(price?.rates.map(({ variant, picos }) => [variant, picos])).toEqual([
      ["", 0n],
      ["long", 3_000_000_000_000n],
    ]);
  });

  test("that is multiplied is rounded up, component by component", () => {
    const price = modelWithPrice("{ input: 0.000001, output: 0.000003, service_tiers: { flex: { multiplier: 0.5 } } }");
    expect(price?.price?.serviceTiers[0]?.prices).toMatchObject({ inputPicos: 1n, outputPicos: 2n, requestPicos: 0n });
  });

  test("is exact, quoted or not, whatever its digits", () => {
    fc.assert(
      fc.property(fc.bigInt(0n, 999_999_999_999n), fc.boolean(), (picos, quoted) => {
        const digits = picos.toString().padStart(7, "0");
        const decimal = `${digits.slice(0, -6)}.${digits.slice(-6)}`;
        const said = quoted ? `"${decimal}"` : decimal;
        expect(modelWithPrice(`{ input: ${said}, output: ${said} }`)?.price?.outputPicos).toBe(picos);
      }),
    );
  });
});

describe("variables", () => {
  test.each([
    { said: '"${A}"', want: "one" },
    { said: "${A}", want: "one" },
    { said: '"x${A}y${B_2}"', want: "xoney${A}" },
    { said: '"$${A}"', want: "${A}" },
    { said: '"a$b"', want: "a$b" },
    { said: "'${A}'", want: "one" },
  ])("$said is $want", ({ said, want }) => {
    const settings = parseSettings(`accounts:\n  acme:\n    name: ${said}\n`, { A: "one", B_2: "${A}" });
    expect(settings.accounts[0]?.name).toBe(want);
  });
});

const MODEL = "models:\n  m:\n    targets: [{ upstream: u }]\nupstreams: { u: { family: f } }\n";
function modelWithPrice(said: string) {
  return parseSettings(MODEL.replace("upstreams:", `    price: ${said}\nupstreams:`), {}).models[0];
}
