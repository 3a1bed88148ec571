/** What clients may name is kept in bounds. */
import { expect, test } from "vitest";
import { checkBlocks } from "../../src/config/blocks.js";
import type { ModelSettings } from "../../src/config/settings.js";
import { hasModel, starIn, withStar } from "../../src/config/wildcards.js";
import type { ServedModel } from "../../src/routing/model.js";
import { UnpricedModels } from "../../src/routing/unpriced-models.js";
import { UpstreamHealth } from "../../src/routing/upstream-health.js";
import { Wildcard } from "../../src/routing/wildcard.js";
import type { Block } from "../../src/settings/object.js";

const SETTINGS: ModelSettings = {
  id: "Org/*",
  targets: [{ upstream: "u", model: "own-*", weight: 1, priority: 1, cost: undefined }],
  kind: undefined,
  contextTokens: undefined,
  outputTokensMax: undefined,
  price: undefined,
  facts: {},
};

test.each([
  { wildcard: "openai/*", name: "openai/gpt-4o", star: "gpt-4o" },
  { wildcard: "openai/*", name: "OpenAI/GPT-4o", star: "GPT-4o" },
  { wildcard: "openai/*", name: "openai/", star: undefined },
  { wildcard: "openai/*", name: "open", star: undefined },
  { wildcard: "*", name: "a", star: "a" },
  { wildcard: "a", name: "a", star: undefined },
])("of $wildcard the star stands in $name for $star", ({ wildcard, name, star }) => {
  expect(starIn(wildcard, name)).toBe(star);
  expect(hasModel([wildcard], name)).toBe(star !== undefined || wildcard === name);
});

test("a star is filled in as it is, and a model has one spelling", () => {
  expect(withStar("a-*", "$&")).toBe("a-$&");
  const wildcard = new Wildcard(SETTINGS, { make: () => undefined, isListOnly: false });
  expect(wildcard.nameOf("ORG/Some-Model")).toBe("Org/some-model");
  for (const wrong of ["Org/", "Org/a b", `Org/${"a".repeat(129)}`, "Org/é", "other"])
    expect(wildcard.nameOf(wrong), wrong).toBeUndefined();
});

test("a wildcard keeps a bounded number of models, and makes one again that it forgot", () => {
  const made: string[] = [];
  const make = ({ id, targets }: ModelSettings): ServedModel => {
    made.push(id);
    expect(targets[0]?.model).toBe(id.replace("Org/", "own-"));
    return { id } as ServedModel;
  };
  const wildcard = new Wildcard(SETTINGS, { make, isListOnly: false });
  for (let index = 0; index < 1_000; index += 1) wildcard.find(`Org/m-${index}`);
  wildcard.find("Org/m-999");
  expect(made).toHaveLength(1_000);
  wildcard.find("Org/m-0");
  expect(made).toHaveLength(1_001);
});

test("an upstream keeps the health of a bounded number of models that clients named", () => {
  const health = new UpstreamHealth();
  const kept = health.of("settings");
  const first = health.ofMade("m-0");
  for (let index = 1; index < 2_000; index += 1) health.ofMade(`m-${index}`);
  expect(health.ofMade("m-0")).not.toBe(first);
  expect(health.ofMade("settings")).toBe(kept);
  const named = health.ofMade("m-1999");
  expect(health.of("m-1999")).toBe(named);
});

test("the names without a price are bounded, and the most requested come first", () => {
  const unpriced = new UnpricedModels(() => 0);
  for (let index = 0; index < 500; index += 1) {
    unpriced.note("often", "*");
    unpriced.note(`m-${index}`, "*");
  }
  expect(unpriced.list()).toHaveLength(100);
  expect(unpriced.list()[0]).toMatchObject({ id: "often", requestCount: 500n });
});

const UPSTREAMS = { u: { family: "openai", api_key: "sk-1" } };
const limits = { context_tokens: "10", output_tokens_max: "10" };
const on = (model?: string) => [{ upstream: "u", ...(model === undefined ? {} : { model }) }];
test.each([
  { models: { "a/*": { targets: on("*") } }, rule: "" },
  { models: { "*": { targets: on() } }, rule: "" },
  { models: { "a/*": { targets: on(), price_from: "ceiling", price: "free", ...limits } }, rule: "" },
  { models: { "a/*": { targets: on("gpt") } }, rule: "must have one *" },
  { models: { "a/*": { targets: on(), price: "free" } }, rule: "is only for price_from: ceiling" },
  { models: { "a/*": { targets: on(), price_from: "ceiling", ...limits } }, rule: "is missing: price_from: ceiling" },
  { models: { a: { targets: on(), serve: "list" } }, rule: "is only for a model whose name ends with *" },
  { models: { "a*b": { targets: on() } }, rule: "must be named by" },
])("settings of wildcards: $models is refused with '$rule'", ({ models, rule }) => {
  const { problems } = checkBlocks({ upstreams: UPSTREAMS, models: models as Record<string, Block> }, undefined);
  expect(problems.map((one) => one.rule).join()).toMatch(rule === "" ? /^$/ : new RegExp(rule.replace("*", "\\*")));
});
