/** Every price that README.md and docs/ state for a model is the published one, and their settings can be read. */
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { Price } from "../../src/api/index.js";
import { parseSettings } from "../support/parse-settings.js";
import type { ModelSettings, Settings } from "../../src/config/settings.js";
import { families } from "../../src/families/index.js";
import { knownModels } from "../../src/pricing/known-models.js";

const ROOT = new URL("../../", import.meta.url);
const NOW = Date.parse("2026-11-21T12:00:00Z");
// What examples read from the environment.
const env = new Proxy<NodeJS.ProcessEnv>({}, { get: () => "sk-value-of-an-example-0123456789" });

const pages = ["README.md", ...readdirSync(new URL("docs/", ROOT)).filter((name) => name.endsWith(".md"))];

interface Stated {
  readonly place: string;
  readonly settings: Settings;
}

/** Each block of YAML that states a price, as the gateway reads it. */
const STATED: readonly Stated[] = pages.flatMap((name) => {
  const text = readFileSync(new URL(name === "README.md" ? name : `docs/${name}`, ROOT), "utf8");
  return [...text.matchAll(/```ya?ml\n([^]*?)```/g)]
    .filter(([, block = ""]) => /^\s*(?:price|cost|- \{.*price):|price:/m.test(block))
    .map(([, block = ""], index) => ({ place: `${name}, block ${index + 1}`, settings: parseSettings(block, env) }));
});

/** Nobody publishes prices of servers of one's own. */
const MODELS = STATED.flatMap(({ place, settings }) =>
  settings.models
    // Nor are units or free judgements in the package.
    .filter(({ kind }) => kind !== "rerank" && kind !== "moderation" && kind !== "speech")
    .filter((model) => pricedAsOf(model, settings) !== undefined)
    .map((model) => ({ place, id: model.id, model, settings })),
);

function pricedAsOf({ targets: [target] }: ModelSettings, settings: Settings): string | undefined {
  const upstream = settings.upstreams.find(({ id }) => id === target?.upstream);
  return families.find(({ name }) => name === upstream?.family)?.pricedAs;
}

async function publishedFor(model: ModelSettings, settings: Settings): Promise<Price | undefined> {
  const [target] = model.targets;
  const pricedAs = pricedAsOf(model, settings);
  return pricedAs === undefined || target === undefined
    ? undefined
    : (await knownModels(pricedAs, [target.model], NOW)).get(target.model)?.price;
}

describe.each(MODELS)("$place: the price of $id", ({ model, settings }) => {
  test("is the published one", async () => {
    const [stated, published] = [model.price, await publishedFor(model, settings)];
    expect(published, "the package of prices knows the model").toBeDefined();
    if (stated === undefined || published === undefined) return;
    const { serviceTiers: _own, tools, tiers, ...tokens } = stated;
    expect(published).toMatchObject(tokens);
    expect(tiers).toEqual(published.tiers);
    for (const { name, callPicos } of published.tools)
      expect(tools.find((tool) => tool.name === name)?.callPicos ?? callPicos, name).toBe(callPicos);
  });
});

test("tiers, service tiers, tools and costs are all shown, and read as they are meant", () => {
  const models = MODELS.map(({ model }) => model);
  expect(models.some(({ price }) => (price?.tiers.length ?? 0) > 0)).toBe(true);
  expect(models.some(({ price }) => (price?.serviceTiers.length ?? 0) > 1)).toBe(true);
  expect(models.some(({ price }) => (price?.tools.length ?? 0) > 0)).toBe(true);
  expect(models.some(({ targets }) => targets.some(({ cost }) => cost !== undefined))).toBe(true);
  const flex = models.flatMap(({ price }) => price?.serviceTiers ?? []).find(({ name }) => name === "flex");
  expect(flex?.prices).toMatchObject({ inputPicos: 375_000n, outputPicos: 2_250_000n });
});

test("no page states a model's price outside of such a block", () => {
  for (const name of pages) {
    const text = readFileSync(new URL(name === "README.md" ? name : `docs/${name}`, ROOT), "utf8");
    const prose = text.replaceAll(/```[^]*?```/g, "");
    expect(prose, name).not.toMatch(/\$\s?\d|\d\s?(?:USD|dollars) (?:per|a|for a) million/);
  }
});
