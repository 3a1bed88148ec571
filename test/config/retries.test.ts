/** Retries in settings: which are said, and which are refused. */
import { expect, test } from "vitest";
import { parseSettings } from "../support/parse-settings.js";

const read = (upstream: string, model = "", target = "") =>
  parseSettings(
    `upstreams: { one: { family: openai-compatible, base_url: "http://h/v1"${upstream} } }\n` +
      `models: { m: { targets: [{ upstream: one${target} }], price: free${model} } }\n`,
    {},
  );

test("each level says its own", () => {
  const { upstreams, models } = read(
    ", retries: { attempts: 10, cool_down_max: 1s }",
    ", retries: { backoff: 10ms, backoff_max: 1m }",
    ", retries: { attempts: 1 }",
  );
  expect(upstreams[0]?.retries).toEqual({ attempts: 10, coolDownMaxMs: 1_000 });
  expect(models[0]?.retries).toEqual({ backoffMs: 10, backoffMaxMs: 60_000 });
  expect(models[0]?.targets[0]?.retries).toEqual({ attempts: 1 });
  expect(read("").upstreams[0]?.retries).toBeUndefined();
});

test.each([
  { name: "no attempt", said: "attempts: 0", rule: "must be a whole number from 1 to 10" },
  { name: "eleven attempts", said: "attempts: 11", rule: "must be a whole number from 1 to 10" },
  { name: "a short pause", said: "backoff: 9ms", rule: "must be a time from 10ms to 1m" },
  { name: "a long pause", said: "backoff_max: 61s", rule: "must be a time from 10ms to 1m" },
  { name: "a short cool-down", said: "cool_down_max: 999ms", rule: "must be a time from 1s to 5m" },
  { name: "a long cool-down", said: "cool_down_max: 6m", rule: "must be a time from 1s to 5m" },
])("$name is refused", ({ said, rule }) => {
  expect(() => read("", `, retries: { ${said} }`)).toThrow(rule);
});
