/** Fallbacks in settings: which a model may name. */
import { expect, test } from "vitest";
import { parseSettings } from "../support/parse-settings.js";

const TARGETS = "targets: [{ upstream: one }], price: free";
const read = (more: string) =>
  parseSettings(
    `upstreams: { one: { family: openai-compatible, base_url: "http://h/v1" } }\n` +
      `models:\n  first: { ${TARGETS}${more} }\n  second: { ${TARGETS} }\naliases: { other: { model: second } }\n`,
    {},
  );

test("a model names others, and aliases, in an order", () => {
  const { models } = read(", fallbacks: [other, second], on_context: second");
  expect(models[0]).toMatchObject({ fallbacks: ["other", "second"], onContext: "second" });
});

test.each([
  { more: ", fallbacks: [first]", want: "models.first.fallbacks[0]: must name another model" },
  { more: ", on_context: first", want: "models.first.on_context: must name another model" },
  { more: ", fallbacks: [second, second]", want: "models.first.fallbacks[1]: repeats an earlier fallback" },
  { more: ", fallbacks: [a, b, c, d, e]", want: "must be a list of at most 4 models" },
  { more: ", fallbacks: second", want: "must be a list of at most 4 models" },
])("refused:$more", ({ more, want }) => {
  expect(() => read(more)).toThrow(want);
});
