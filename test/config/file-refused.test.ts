/** The settings file, written wrongly: the exact line and column of each problem. */
import { fc } from "../support/seeds.js";
import { describe, expect, test } from "vitest";
import { ConfigError } from "../../src/config/config-error.js";
import { hideSecrets } from "../../src/config/kept-secrets.js";
import { parseSettings } from "../support/parse-settings.js";

const ENV = { CI_KEY: "sk-0123456789abcdef", EMPTY: "" };
const MODEL = "models:\n  m:\n    targets: [{ upstream: u }]\nupstreams: { u: { family: f } }\n";
const KEY = "keys:\n  - account: acme\n    secret: sk-0123456789abcdef\n";
const PRICE = 'must be USD per million tokens such as "0.25"';
const URL_RULE =
  "must be an http:// or https:// address without user, query, or fragment, such as https://api.example.com/v1";

describe("a bad file is refused with the line and column of each problem", () => {
  test.each([
    { name: "empty", text: "  \n", want: ["1:1 is empty; remove it to run without settings"] },
    {
      name: "a list",
      text: "- a\n",
      want: [
        "1:1 must be a block of upstreams, models, aliases, plans, manage, accounts, keys, metrics, prices, alerts, exports, payments, identity, include",
      ],
    },
    {
      name: "bad YAML",
      text: "models:\n\tm: 1\n",
      want: ["2:1 is not valid YAML: Tabs are not allowed as indentation"],
    },
    {
      name: "two documents",
      text: "a: 1\n---\nb: 2\n",
      want: ["2:1 is not valid YAML: the file holds more than one document"],
    },
    {
      name: "an unquoted variable inside braces",
      text: "upstreams:\n  u: { family: f, api_key: ${KEY} }\n",
      want: ['2:29 is not valid YAML: Unexpected flow-map-start at node end; write "${NAME}" in quotes'],
    },
    { name: "a tag", text: "accounts: { acme: { name: !secret x } }\n", want: ["1:27 tags are not supported"] },
    { name: "an unknown block", text: "modles: {}\n", want: ['1:1 modles: is not known here; did you mean "models"?'] },
    { name: "an unknown block like no other", text: "zzz: {}\n", want: ["1:1 zzz: is not known here"] },
    {
      name: "a name written twice",
      text: "accounts:\n  acme: {}\n  acme: {}\n",
      want: ["3:3 accounts.acme: is written twice"],
    },
    {
      name: "the name that no object holds",
      text: "accounts:\n  acme:\n    models:\n      __proto__: { concurrency: 1 }\n",
      want: ["4:7 accounts.acme.models.__proto__: cannot be a name"],
    },
    {
      name: "a variable that is not set",
      text: 'upstreams:\n  u:\n    family: f\n    api_key: "${NO_SUCH}"\n',
      want: ["4:14 upstreams.u.api_key: the variable NO_SUCH is not set"],
    },
    {
      name: "a variable that is empty",
      text: 'upstreams: { u: { family: f, api_key: "${EMPTY}" } }\n',
      want: ["1:39 upstreams.u.api_key: the variable EMPTY is not set"],
    },
    {
      name: "a variable without a name",
      text: 'accounts: { a: { name: "${1x}" } }\n',
      want: ["1:24 accounts.a.name: must name a variable as ${NAME}; write $${ for the two characters themselves"],
    },
    {
      name: "an alias of nothing",
      text: "accounts: { a: *b }\n",
      want: ["1:16 accounts.a: names no anchor: *b"],
    },
    {
      name: "an upstream that lacks its family and has a bad name",
      text: "upstreams:\n  Open AI: {}\n  u: {}\n",
      want: [
        '2:3 upstreams["Open AI"]: must be named by 1 to 64 of a-z, 0-9, ., _ and -',
        "3:3 upstreams.u.family: is missing: must be text of 1 to 64 characters",
      ],
    },
    {
      name: "addresses with parts that do not belong",
      text: [
        "upstreams:",
        "  a: { family: f, base_url: ftp://x/ }",
        '  b: { family: f, base_url: "https://user:hunter2@x/" }',
        '  c: { family: f, base_url: "https://x/?key=hunter2" }',
        '  d: { family: f, base_url: "https://x/#" }',
        "  e: { family: f, base_url: x }",
      ].join("\n"),
      want: [
        `2:29 upstreams.a.base_url: ${URL_RULE}`,
        `3:29 upstreams.b.base_url: ${URL_RULE}`,
        `4:29 upstreams.c.base_url: ${URL_RULE}`,
        `5:29 upstreams.d.base_url: ${URL_RULE}`,
        `6:29 upstreams.e.base_url: ${URL_RULE}`,
      ],
    },
    {
      name: "a model with a space in its name",
      text: "models:\n  my GPT: { targets: [{ upstream: u }] }\nupstreams: { u: { family: f } }\n",
      want: [
        '2:3 models["my GPT"]: must be named by 1 to 128 of A-Z, a-z, 0-9, ., _, :, /, @ and -, perhaps with * at the end',
      ],
    },
    {
      name: "a model of an unknown kind",
      text: "upstreams: { u: { family: f } }\nmodels:\n  a: { targets: [{ upstream: u }], kind: images }\n",
      want: ["3:42 models.a.kind: must be one of chat, completion, embedding, rerank, moderation, speech"],
    },
    {
      name: "a model without targets",
      text: "models:\n  a: {}\n  b: { targets: [] }\n  c:\n",
      want: [
        "2:3 models.a.targets: is missing: must be a list of at least one target, such as [{ upstream: openai }]",
        "3:17 models.b.targets: must be a list of at least one target, such as [{ upstream: openai }]",
        "4:3 models.c: must be a block of targets, kind, context_tokens, output_tokens_max, stream_head_ms, hosted_tools, affinity, cache_marks, cache_marks_ttl, balance, timeouts, fallbacks, on_context, retries, parameters, price, facts, retires, display_name, price_from, serve",
      ],
    },
    {
      name: "targets that do not work",
      text: [
        "upstreams: { openai: { family: f } }",
        "models:",
        "  m:",
        "    targets:",
        "      - { upstream: opneai }",
        "      - { upstream: openai, weight: 1000001 }",
        "      - { upstream: openai, model: n, weight: -1 }",
        "      - { upstream: openai, model: o, priority: 0 }",
        "      - { upstream: openai, model: m }",
      ].join("\n"),
      want: [
        '5:21 models.m.targets[0].upstream: must name one of the upstreams; "opneai" is none; did you mean "openai"?',
        "6:37 models.m.targets[1].weight: must be a number from 0 to 1000000",
        "7:47 models.m.targets[2].weight: must be a number from 0 to 1000000",
        "8:49 models.m.targets[3].priority: must be a whole number from 1 to 100",
        "9:9 models.m.targets[4]: repeats an earlier target; give one of them the sum of the weights",
      ],
    },
    {
      name: "prices that are none",
      text: `${MODEL}  ,\n`.replace(
        "upstreams: { u: { family: f } }\n  ,",
        [
          "    price:",
          "      input: 1e-6",
          '      cache_read: "-1"',
          "      reasoning: 0.0000001",
          "      image: 1000000.1",
          "      request: 1001",
          "      outptu: 1",
          "upstreams: { u: { family: f } }",
        ].join("\n"),
      ),
      want: [
        `4:5 models.m.price.output: is missing: ${PRICE}`,
        `5:14 models.m.price.input: ${PRICE}`,
        `6:19 models.m.price.cache_read: ${PRICE}`,
        `7:18 models.m.price.reasoning: ${PRICE}`,
        `8:14 models.m.price.image: ${PRICE}`,
        '9:16 models.m.price.request: must be USD per request such as "0.01"',
        '10:7 models.m.price.outptu: is not known here; did you mean "output"?',
      ],
    },
    {
      name: "tiers of a price that are none",
      text: MODEL.replace(
        "upstreams:",
        [
          "    price:",
          "      input: 1",
          "      output: 2",
          "      tiers:",
          "        - { above_input_tokens: 200000, input: 2 }",
          "      service_tiers:",
          "        flex: { multiplier: 0 }",
          "        batch: { multiplier: 0.5, input: 1 }",
          "        priority: { input: 2 }",
          "      tools: { web_search: ten, Web: 1 }",
          "upstreams:",
        ].join("\n"),
      ),
      want: [
        `8:11 models.m.price.tiers[0].output: is missing: ${PRICE}`,
        '10:29 models.m.price.service_tiers.flex.multiplier: must be a number such as "0.5", from 0.0001 to 100',
        "11:42 models.m.price.service_tiers.batch.input: cannot be combined with multiplier",
        `12:9 models.m.price.service_tiers.priority.output: is missing: ${PRICE}; or set multiplier`,
        '13:28 models.m.price.tools.web_search: must be USD per thousand calls such as "10.00"',
        "13:33 models.m.price.tools.Web: must be named by 1 to 64 of a-z, 0-9, _, . and -, a letter first",
      ],
    },
    {
      name: "tiers of a price that do not fit together",
      text: MODEL.replace(
        "upstreams:",
        [
          "    price:",
          "      input: 1",
          "      output: 2",
          "      tiers:",
          "        - { above_input_tokens: 200000, input: 2, output: 3 }",
          "        - { above_input_tokens: 200000, input: 3, output: 4 }",
          "      service_tiers:",
          "        default: { multiplier: 2 }",
          "upstreams:",
        ].join("\n"),
      ),
      want: [
        "9:33 models.m.price.tiers[1].above_input_tokens: must be above 200000, where the tier before it begins",
        "11:18 models.m.price.service_tiers.default: is the standard tier: its price is the price of the model",
      ],
    },
    {
      name: "token limits that are none",
      text: MODEL.replace("upstreams:", "    context_tokens: 1.5\n    output_tokens_max: 0\nupstreams:"),
      want: [
        "4:21 models.m.context_tokens: must be a whole number from 1 to 1000000000",
        "5:24 models.m.output_tokens_max: must be a whole number from 1 to 1000000000",
      ],
    },
    {
      name: "facts of a model that are none",
      text: MODEL.replace(
        "upstreams:",
        "    facts: { images: yes, sampling: some, efforts: [Low], budgets: { low: -1 }, force_tools: true }\nupstreams:",
      ),
      want: [
        "4:22 models.m.facts.images: must be true or false",
        "4:37 models.m.facts.sampling: must be one of both, one, none",
        "4:53 models.m.facts.efforts[0]: must be an effort such as low, in lower case",
        "4:75 models.m.facts.budgets.low: must be a whole number from 0 to 10000000",
        `4:81 models.m.facts.force_tools: is not known here; did you mean "forced_tools"?`,
      ],
    },
    {
      name: "accounts that do not work",
      text: 'accounts:\n  Acme: {}\n  b: { credit: "1,000" }\n  c: { credit: "1000000000.01" }\n',
      want: [
        "2:3 accounts.Acme: must be named by 1 to 64 of a-z, 0-9, _, . and -",
        '3:16 accounts.b.credit: must be USD such as "25.00", with at most nine decimal places',
        '4:16 accounts.c.credit: must be USD such as "25.00", with at most nine decimal places',
      ],
    },
    {
      name: "a key whose secret is too short, and which is not shown",
      text: "keys:\n  - account: acme\n    secret: sk-hunter2\naccounts: { acme: }\n",
      want: ["3:13 keys[0].secret: must be sk- and at least 16 more characters without spaces"],
    },
    {
      name: "a key with settings that are none",
      text: `${KEY}${[
        "    scopes: [chat, chta]",
        "    models: gpt-*",
        "    addresses: [10.0.0.0/33, 10.0.0, 10.0.0.0/8]",
        "    expires: 2026-02-31T00:00:00Z",
        "    requests_per_minute: many",
        "    budget_day: 5 USD",
        "    refuse_unaffordable: yes",
        "    metadata: [a]",
        "    budget: 5",
      ]
        .map((line) => `${line}\n`)
        .join("")}accounts: { acme: }\n`,
      want: [
        "4:20 keys[0].scopes[1]: must be one of chat, embeddings, rerank, moderations, audio, models, usage, keys, audit, alerts, operator",
        "5:13 keys[0].models: must be a list such as [a, b]",
        "6:17 keys[0].addresses[0]: must be an address or CIDR block such as 10.0.0.0/8 or 2001:db8::/32",
        "6:30 keys[0].addresses[1]: must be an address or CIDR block such as 10.0.0.0/8 or 2001:db8::/32",
        "7:14 keys[0].expires: must be a time such as 2027-01-01T00:00:00Z",
        "8:26 keys[0].requests_per_minute: must be a whole number from 0 to 1000000000",
        '9:17 keys[0].budget_day: must be USD such as "25.00", with at most nine decimal places',
        "10:26 keys[0].refuse_unaffordable: must be true or false",
        "11:15 keys[0].metadata: must be at most 16 labels with their texts",
        "12:5 keys[0].budget: is not known here",
      ],
    },
    {
      name: "two keys with one secret, given in two ways",
      text: `${KEY}  - { account: b, secret: "\${CI_KEY}" }\naccounts: { acme: , b: }\n`,
      want: ["4:27 keys[1].secret: must differ from the secret of keys[0]"],
    },
  ])("$name", ({ text, want }) => {
    const problems = problemsOf(text, ENV);
    expect(problems).toEqual(want.map((line) => `tollgate.yaml:${line}`));
    expect(problems.join("\n")).not.toContain("hunter2");
  });

  test("the file's own name stands in the lines", () => {
    expect(() => parseSettings("x: 1", {}, { fileName: "other.yaml" })).toThrow("other.yaml:1:1 x: is not known here");
  });

  test("more than 50 problems are counted", () => {
    const text = Array.from({ length: 60 }, (_, index) => `unknown_${index}: 1`).join("\n");
    const problems = problemsOf(text, {});
    expect(problems).toHaveLength(51);
    expect(problems.at(-1)).toBe("tollgate.yaml: and 10 more");
  });
});

/** A mapping of so many pairs, merged again and again. */
const merged = (pairOf: (place: number) => string): string =>
  `a: &a { ${Array.from({ length: 5_000 }, (_, place) => pairOf(place)).join(", ")} }\nb: { <<: [${"*a, ".repeat(8_000)}] }\n`;

describe("a file made to be expensive is refused", () => {
  test.each([
    { name: "over a mebibyte", text: `# ${"x".repeat(1_048_576)}`, want: "is larger than 1048576 bytes" },
    {
      name: "nested without end",
      text: `a: ${"[".repeat(60)}${"]".repeat(60)}`,
      want: "is nested deeper than 32 levels",
    },
    { name: "an alias of itself", text: "a: &a [*a]", want: "is nested deeper than 32 levels" },
    {
      name: "aliases of aliases of aliases",
      text: [
        "a0: &a0 [x, x, x, x, x, x, x, x, x, x]",
        ...Array.from({ length: 8 }, (_, n) => `a${n + 1}: &a${n + 1} [${Array(10).fill(`*a${n}`).join(", ")}]`),
      ].join("\n"),
      want: "makes more than 100000 values; use fewer aliases",
    },
    {
      name: "merges of the same names, again and again",
      text: merged((place) => `k${place}: x`),
      want: "makes more than 100000 values; use fewer aliases",
    },
    {
      name: "merges of names that are refused",
      text: merged(() => "[x]: x"),
      want: "makes more than 100000 values; use fewer aliases",
    },
  ])("$name", ({ text, want }) => {
    expect(problemsOf(text, {}).some((line) => line.includes(want))).toBe(true);
  });
});

test.each([
  { name: "a plain name", key: "fast-1_x", want: "models.fast-1_x" },
  { name: "a name with dots", key: "gpt-5.4", want: 'models["gpt-5.4"]' },
  { name: "a tab", key: "\t", want: 'models["\\t"]' },
  { name: "a line's end", key: "a\nb", want: 'models["a\\nb"]' },
  { name: "no name", key: "", want: 'models[""]' },
])("the place of a problem says $name so that it can be read", ({ key, want }) => {
  const problems = problemsOf(`models: { ${JSON.stringify(key)}: 1 }`, {});
  expect(problems.some((line) => line.includes(` ${want}: `))).toBe(true);
});

test("whatever the text is, it is read or refused, never more", () => {
  const piece = fc.constantFrom(
    ..."{}[]:,-#&*!|>'\"%@`$ \n\t".split(""),
    "models",
    "keys",
    "a",
    "${A}",
    "1",
    "- ",
    "? ",
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
      for (const problem of problemsOf(pieces.join(""), {}))
        expect(problem).toMatch(/^tollgate\.yaml:\d+:\d+ \S[^\n]*$/);
    }),
    { numRuns: 500 },
  );
});

function problemsOf(text: string, env: NodeJS.ProcessEnv): readonly string[] {
  try {
    parseSettings(text, env);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

test.each([
  { name: "lists", text: `a: ${"[".repeat(40_000)}` },
  { name: "lists that are closed", text: `a: ${"[".repeat(40_000)}${"]".repeat(40_000)}` },
  { name: "blocks in a line", text: "{a: ".repeat(20_000) },
  { name: "entries in a line", text: "- ".repeat(40_000) },
  { name: "names that are blocks", text: "? ".repeat(40_000) },
])("$name within each other are refused before anything goes down into them", ({ text }) => {
  expect(() => parseSettings(text, {})).toThrow("nests deeper than 64 blocks and lists");
  expect(() => hideSecrets(text)).toThrow("nests deeper than 64 blocks and lists");
});
