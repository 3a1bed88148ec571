/** A model is sold at the price of its first target, whatever stands behind that one, and a loss is told. */
import { fc } from "../support/seeds.js";
import { describe, expect, test } from "vitest";
import { parsePricePerMillion } from "../../src/base/money.js";
import { checkSettingsTexts, type CheckedSettings } from "../../src/serve/settings-check.js";

const KEYS = `
  openai: { family: openai, api_key: k }
  claude: { family: anthropic, api_key: k }
  other: { family: openai-compatible, base_url: "http://127.0.0.1:1/v1" }`;

/** Published, from the cheapest to the dearest; the last is in no list. */
const TARGETS = [
  { upstream: "openai", model: "gpt-4o-mini", input: "0.15", output: "0.60" },
  { upstream: "openai", model: "gpt-4o", input: "2.50", output: "10.00" },
  { upstream: "claude", model: "claude-opus-4-1", input: "15.00", output: "75.00" },
  { upstream: "other", model: "mine", input: undefined, output: undefined },
] as const;

interface Named {
  readonly place: number;
  readonly priority: number;
}

function check(targets: readonly Named[], price = ""): Promise<CheckedSettings> {
  const lines = targets.map(({ place, priority }) => {
    const { upstream, model } = TARGETS[place] ?? TARGETS[0];
    return `{ upstream: ${upstream}, model: ${model}, priority: ${priority} }`;
  });
  const limits = "context_tokens: 100000, output_tokens_max: 4096";
  const text = `upstreams:${KEYS}\nmodels: { m: { targets: [${lines.join(", ")}], ${limits}${price} } }\n`;
  return checkSettingsTexts([{ name: "tollgate.yaml", text }], {});
}

describe("a model without a price of its own", () => {
  test("is sold at that of its first target of the best priority, whatever the others cost", async () => {
    const named = fc.record({ place: fc.nat(TARGETS.length - 1), priority: fc.integer({ min: 1, max: 3 }) });
    const lists = fc.uniqueArray(named, { minLength: 1, maxLength: 4, selector: ({ place }) => place });
    await fc.assert(
      fc.asyncProperty(lists, async (targets) => {
        const [best] = targets.toSorted((a, b) => a.priority - b.priority);
        const first = TARGETS[best?.place ?? 0] ?? TARGETS[0];
        if (first.input === undefined) {
          await expect(check(targets)).rejects.toThrow(/has no price that is publicly known/);
          return;
        }
        const { sold } = await check(targets);
        expect(sold).toMatchObject([
          {
            price: {
              inputPicos: parsePricePerMillion(first.input),
              outputPicos: parsePricePerMillion(first.output),
            },
            source: `published for ${first.upstream} '${first.model}'`,
          },
        ]);
        const dearer = targets.filter(({ place }) => TARGETS[place]?.input !== undefined && place > (best?.place ?? 0));
        expect(sold[0]?.losses).toHaveLength(dearer.length);
      }),
      { numRuns: 60 },
    );
  });

  test("says which target costs more, and by what", async () => {
    const { sold } = await check([
      { place: 1, priority: 1 },
      { place: 2, priority: 2 },
    ]);
    const told = "its target claude 'claude-opus-4-1' costs more than 'm' is sold for, in USD per million tokens";
    expect(sold[0]?.losses).toHaveLength(1);
    expect(sold[0]?.losses[0]).toContain(`models.m: ${told}: input 15.00 over 2.50, output 75.00 over 10.00`);
  });
});

test("a price of the settings is compared with what the targets cost, too", async () => {
  const { sold } = await check([{ place: 1, priority: 1 }], ", price: { input: 2, output: 20 }");
  expect(sold).toMatchObject([{ source: "of the settings" }]);
  expect(sold[0]?.losses.join()).toContain("input 2.50 over 2.00");
  expect(sold[0]?.losses.join()).not.toContain("output");
});
