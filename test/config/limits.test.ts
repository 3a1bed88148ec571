/** Limits and headers of upstreams and targets in settings: which are said, and which are refused. */
import { expect, test } from "vitest";
import { parseSettings } from "../support/parse-settings.js";

const read = (upstream: string, target = "") =>
  parseSettings(
    `upstreams: { one: { family: openai-compatible, base_url: "http://h/v1"${upstream} } }\n` +
      `models: { m: { targets: [{ upstream: one${target} }], price: free } }\n`,
    {},
  );

test("an upstream and a target say their own", () => {
  const { upstreams, models } = read(
    ", limits: { requests_per_minute: 60, concurrency: 4, queue: { length: 20 } }",
    `, limits: { tokens_per_minute: 100000, concurrency: 1, queue: { length: 1, wait: 2m },
      budget: { amount: "25.00", period: month } }, cost: free`,
  );
  expect(upstreams[0]?.limits).toEqual({
    requestsPerMinute: 60,
    tokensPerMinute: 0,
    concurrency: 4,
    queue: { length: 20, waitMs: 30_000 },
    budget: undefined,
  });
  expect(models[0]?.targets[0]?.limits).toEqual({
    requestsPerMinute: 0,
    tokensPerMinute: 100_000,
    concurrency: 1,
    queue: { length: 1, waitMs: 120_000 },
    budget: { amountNanos: 25_000_000_000n, period: "month" },
  });
  expect(read("").upstreams[0]?.limits).toBeUndefined();
});

test.each([
  { name: "a limit of nothing", said: "concurrency: 0", rule: "must be a whole number from 1 to 1000000000" },
  {
    name: "a short wait",
    said: "concurrency: 1, queue: { length: 3, wait: 999ms }",
    rule: "must be a time from 1s to 1h",
  },
  { name: "a long period", said: 'budget: { amount: "1", period: year }', rule: "must be one of day, month" },
])("$name is refused", ({ said, rule }) => {
  expect(() => read(`, limits: { ${said} }`)).toThrow(rule);
});

test("a queue alone is for an upstream, whose server may report how many requests it works at", () => {
  const limits = ", limits: { queue: { length: 3 } }";
  expect(read(limits).upstreams[0]?.limits).toMatchObject({ concurrency: 0, queue: { length: 3 } });
  expect(() => read("", limits)).toThrow("limits.queue: needs concurrency");
});

const BUDGET = ', limits: { budget: { amount: "5.00", period: day } }';

test.each([
  { name: "an upstream", upstream: BUDGET, target: "", rule: 'cost: is missing: the budget of the upstream "one"' },
  { name: "a target", upstream: "", target: BUDGET, rule: "cost: is missing: its budget counts the cost" },
])("a budget of $name needs the cost of the target", ({ upstream, target, rule }) => {
  expect(() => read(upstream, target)).toThrow(rule);
  expect(() => read(upstream, `${target}, cost: { input: "1", output: "2" }`)).not.toThrow();
});

test("headers are lines, and come from variables too", () => {
  const text =
    'upstreams: { one: { family: vllm, base_url: "http://h/v1", headers: "X-Team: blue\\nx-token: ${TOKEN}" } }\n' +
    "models: {}\n";
  expect(parseSettings(text, { TOKEN: "a b:c" }).upstreams[0]?.headers).toEqual({
    "x-team": "blue",
    "x-token": "a b:c",
  });
});

test.each([
  { name: "a header of the credential", said: "Authorization: Bearer x" },
  { name: "the host", said: "X-Team: blue\\nHOST: other" },
  { name: "a length", said: "content-length: 3" },
  { name: "no value", said: "X-Team:" },
  { name: "a header twice", said: "X-Team: blue\\nx-team: red" },
  { name: "a character that ends a header", said: "X-Team: blue\\rX-Other: red" },
  { name: "nothing", said: "\\n" },
])("headers with $name are refused", ({ said }) => {
  expect(() => read(`, headers: "${said}"`)).toThrow("must be 1 to 20 lines");
});
