/** Parameters in settings: which are said, and which are refused. */
import { expect, test } from "vitest";
import { parseSettings } from "../support/parse-settings.js";

const read = (model: string, target = "") =>
  parseSettings(
    `upstreams: { one: { family: openai-compatible, base_url: "http://h/v1" } }\n` +
      `models: { m: { targets: [{ upstream: one${target} }], price: free${model} } }\n`,
    {},
  ).models[0];

test("a model and a target say what they fill in, set and drop", () => {
  const model = read(
    ", parameters: { default: { temperature: 0.2, stop: [END] }, set: { output_tokens_max: 100 }, drop: [seed] }",
    ", parameters: { set: { reasoning_effort: low, presence_penalty: -1.5, parallel_tool_calls: false } }",
  );
  expect(model?.parameters).toEqual({
    default: { temperature: 0.2, stop: ["END"] },
    set: { output_tokens_max: 100 },
    drop: ["seed"],
  });
  const set = { reasoning_effort: "low", presence_penalty: -1.5, parallel_tool_calls: false };
  expect(model?.targets[0]?.parameters).toEqual({ default: {}, set, drop: [] });
  expect(read("")?.parameters).toBeUndefined();
});

test.each([
  { name: "an unknown name", said: "set: { temprature: 1 }", rule: 'is not known here; did you mean "temperature"?' },
  { name: "an unknown name to drop", said: "drop: [top_q]", rule: 'is not known here; did you mean "top_p"?' },
  { name: "messages", said: "drop: [messages]", rule: "is not known here" },
  { name: "a wrong number", said: "default: { temperature: 3 }", rule: "must be a number from 0 to 2" },
  { name: "a name twice", said: "set: { seed: 1 }, drop: [seed]", rule: "says the same parameter as 'set': seed" },
  {
    name: "two ways to say how much a model reasons",
    said: "default: { reasoning_effort: low, reasoning_tokens: 100 }",
    rule: "says the same parameter as 'default': reasoning_tokens",
  },
])("$name is refused", ({ said, rule }) => {
  expect(() => read(`, parameters: { ${said} }`)).toThrow(rule);
});

test.each([
  { said: "default: { output_tokens_max: 9 }", rule: "must not name output_tokens_max, which is only for a model" },
  { said: "drop: [output_tokens_max]", rule: "must not name output_tokens_max, which is only for a model" },
  { said: "set: { service_tier: flex }", rule: "must not name service_tier, which is only for a model" },
])("a target does not say $said, because money is held before it is chosen", ({ said, rule }) => {
  expect(() => read("", `, parameters: { ${said} }`)).toThrow(rule);
});
