/** A price in a settings file: USD per million tokens, exact, with what is left out taken from its neighbour. */
import { z } from "zod";
import type { Price, PriceTier, ServiceTierPrice, TokenPrices, ToolPrice } from "../api/index.js";
import { serviceTierOf } from "../api/service-tier.js";
import { parseDecimal, parsePricePerMillion } from "../base/money.js";
import { tokenPrices } from "../pricing/token-prices.js";
import { rates } from "./rate-schema.js";
import { block, decimalForm, named, reading, wholeNumber } from "./values.js";

/** A million USD per million tokens, in pico-USD per token. */
const TOKEN_PICOS_MAX = 1_000_000_000_000n;
/** A thousand USD per request, in pico-USD. */
const REQUEST_PICOS_MAX = 1_000_000_000_000_000n;

const PER_MILLION_RULE = 'must be USD per million tokens such as "0.25"';
const perMillion = decimal(PER_MILLION_RULE, (value) => {
  const picos = parsePricePerMillion(value);
  return picos === undefined || picos > TOKEN_PICOS_MAX ? undefined : picos;
});

const perRequest = decimal('must be USD per request such as "0.01"', (value) => {
  const picos = parseDecimal(value, 12);
  return picos === undefined || picos > REQUEST_PICOS_MAX ? undefined : picos;
});

const perThousandCalls = decimal('must be USD per thousand calls such as "10.00"', (value) => {
  const picos = parseDecimal(value, 9);
  return picos === undefined || picos > REQUEST_PICOS_MAX ? undefined : picos;
});

function decimal(rule: string, parse: (value: string) => bigint | undefined) {
  return reading(rule, parse, decimalForm);
}

/** In ten-thousandths, so that a multiplied price is exact but for one rounding up. */
const MULTIPLIER_ONE = 10_000n;
const multiplier = decimal('must be a number such as "0.5", from 0.0001 to 100', (value) => {
  const parts = parseDecimal(value, 4);
  return parts === undefined || parts === 0n || parts > 100n * MULTIPLIER_ONE ? undefined : parts;
});

const components = {
  input: perMillion.describe("Input tokens"),
  cache_read: perMillion.optional().describe("Input tokens read from a cache; default: the `input` price"),
  cache_write: perMillion.optional().describe("Input tokens written to a cache; default: the `input` price"),
  cache_write_1h: perMillion
    .optional()
    .describe("Input tokens written to a cache for an hour; default: the `cache_write` price"),
  output: perMillion.describe("Output tokens"),
  reasoning: perMillion.optional().describe("Reasoning tokens; default: the `output` price"),
  image: perMillion.optional().describe("Image input tokens; default: the `input` price"),
  audio_input: perMillion.optional().describe("Audio input tokens; default: the `input` price"),
  audio_output: perMillion.optional().describe("Audio output tokens; default: the `output` price"),
  request: perRequest.prefault("0").describe("USD for each request, in addition to its tokens"),
};

const INPUT_TOKENS_MAX = 1_000_000_000;
const TIERS_RULE = "must be a list of tiers, such as [{ above_input_tokens: 200000, input: 6, output: 22.5 }]";

const aboveInputTokens = wholeNumber(1, INPUT_TOKENS_MAX).describe(
  "The tier applies to all tokens of a request with more input tokens than this",
);
const tier = block({ above_input_tokens: aboveInputTokens, ...components }).transform((said): PriceTier => ({
  aboveInputTokens: BigInt(said.above_input_tokens),
  prices: pricesOf(said),
}));

const tiers = z
  .array(tier, { error: () => TIERS_RULE })
  .superRefine((list, context) => {
    for (const [index, { aboveInputTokens }] of list.entries()) {
      const before = list[index - 1]?.aboveInputTokens ?? 0n;
      if (aboveInputTokens > before) continue;
      const message = `must be above ${before}, where the tier before it begins`;
      context.addIssue({ code: "custom", message, path: [index, "above_input_tokens"] });
    }
  })
  .default([])
  .describe("Other prices for requests with a longer input, in ascending order of `above_input_tokens`");

/** Either a multiple of the price around it, tiers and all, or a price of its own. */
const serviceTier = block({
  ...components,
  multiplier: multiplier
    .optional()
    .describe("Multiplies the prices of the enclosing `price` block; use it instead of separate prices"),
  input: perMillion.optional().describe("Input tokens; required without `multiplier`"),
  output: perMillion.optional().describe("Output tokens; required without `multiplier`"),
  request: perRequest.optional().describe("USD for each request, in addition to its tokens"),
  tiers,
}).transform((said, context): OwnPrice | { readonly multiplier: bigint } => {
  const { multiplier, input, output, request = 0n, ...rest } = said;
  if (multiplier !== undefined) {
    const others = Object.entries(said).filter(([, value]) => value !== undefined && !isEmpty(value));
    for (const [name] of others) {
      if (name !== "multiplier") refuse(context, name, "cannot be combined with multiplier");
    }
    return { multiplier };
  }
  if (input === undefined) refuse(context, "input", `is missing: ${PER_MILLION_RULE}; or set multiplier`);
  if (output === undefined) refuse(context, "output", `is missing: ${PER_MILLION_RULE}; or set multiplier`);
  const prices = pricesOf({ ...rest, input: input ?? 0n, output: output ?? 0n, request });
  return { prices, tiers: said.tiers };
});

interface OwnPrice {
  readonly prices: TokenPrices;
  readonly tiers: PriceTier[];
}

function isEmpty(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

function refuse(context: z.RefinementCtx, name: string, message: string): void {
  context.addIssue({ code: "custom", message, path: [name] });
}

const NAME = /^[a-z][a-z0-9_.-]{0,63}$/;
const NAME_RULE = "must be named by 1 to 64 of a-z, 0-9, _, . and -, a letter first";

const serviceTiers = named(NAME, NAME_RULE, serviceTier).superRefine((said, context) => {
  for (const name of Object.keys(said)) {
    if (serviceTierOf(name) !== "") continue;
    context.addIssue({
      code: "custom",
      message: "is the standard tier: its price is the price of the model",
      path: [name],
    });
  }
});

/** Both are said, or neither where there are units. It is checked even where another part of the price is wrong. */
function tokensOrUnits(name: "input" | "output") {
  const other = name === "input" ? "output" : "input";
  const isSaid = (said: { readonly input?: unknown; readonly output?: unknown; readonly units?: unknown }): boolean =>
    said[name] !== undefined || (said[other] === undefined && Object.keys(said.units ?? {}).length > 0);
  const rule = {
    error: `is missing: ${PER_MILLION_RULE}`,
    path: [name],
    when: ({ value }: { value: unknown }) => isBlock(value),
  };
  return [isSaid, rule] as const;
}

function isBlock(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}

const whole = block({
  ...components,
  input: perMillion.optional().describe("Input tokens; required without `units`"),
  output: perMillion.optional().describe("Output tokens; required without `units`"),
  tiers,
  service_tiers: serviceTiers.describe(
    "Prices of service tiers, by name; a request for a tier without a price is refused",
  ),
  tools: named(NAME, NAME_RULE, perThousandCalls).describe(
    "USD per thousand calls of a tool that the upstream runs; `hosted_tools` decides about a tool that lacks its price",
  ),
  units: rates.describe(
    "Prices of other units than tokens, such as `search_unit` (USD per thousand); a request that uses a unit without a " +
      "price is refused",
  ),
})
  .refine(...tokensOrUnits("input"))
  .refine(...tokensOrUnits("output"));

/** `free`, or a block with at least input and output, or with units. */
export const price = z
  .preprocess(
    (value) => (value === "free" ? { input: "0", output: "0" } : value),
    whole.transform((said): Price => {
      const { input, output, units, ...others } = said;
      const tokensUnpriced = input === undefined && output === undefined;
      const [prices, longer] = [pricesOf({ ...others, input: input ?? 0n, output: output ?? 0n }), said.tiers];
      const tools = Object.entries(said.tools).map(([name, callPicos]): ToolPrice => ({ name, callPicos }));
      const serviceTiers = Object.entries(said.service_tiers).map(([name, tier]): ServiceTierPrice => {
        if (!("multiplier" in tier)) return { name, prices: tier.prices, tiers: tier.tiers };
        const { multiplier: parts } = tier;
        return { name, prices: times(prices, parts), tiers: longer.map((one) => timesTier(one, parts)) };
      });
      return { ...prices, tiers: longer, serviceTiers, tools, rates: units, tokensUnpriced };
    }),
  )
  .meta({ alone: { const: "free" } });

type Said = z.output<z.ZodObject<typeof components>>;

function pricesOf(said: Said): TokenPrices {
  return tokenPrices({
    inputPicos: said.input,
    cacheReadPicos: said.cache_read,
    cacheWritePicos: said.cache_write,
    cacheWrite1hPicos: said.cache_write_1h,
    outputPicos: said.output,
    reasoningPicos: said.reasoning,
    imagePicos: said.image,
    audioInputPicos: said.audio_input,
    audioOutputPicos: said.audio_output,
    requestPicos: said.request,
  });
}

function timesTier({ aboveInputTokens, prices }: PriceTier, parts: bigint): PriceTier {
  return { aboveInputTokens, prices: prices === undefined ? undefined : times(prices, parts) };
}

/** A price times so many ten-thousandths, each component rounded up. */
function times(prices: TokenPrices, parts: bigint): TokenPrices {
  const by = (picos: bigint): bigint => (picos * parts + MULTIPLIER_ONE - 1n) / MULTIPLIER_ONE;
  return {
    inputPicos: by(prices.inputPicos),
    cacheReadPicos: by(prices.cacheReadPicos),
    cacheWritePicos: by(prices.cacheWritePicos),
    cacheWrite1hPicos: by(prices.cacheWrite1hPicos),
    outputPicos: by(prices.outputPicos),
    reasoningPicos: by(prices.reasoningPicos),
    imagePicos: by(prices.imagePicos),
    audioInputPicos: by(prices.audioInputPicos),
    audioOutputPicos: by(prices.audioOutputPicos),
    requestPicos: by(prices.requestPicos),
  };
}
