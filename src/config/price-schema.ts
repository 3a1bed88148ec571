/** A price in a settings file: USD per million tokens, exact, with what is left out taken from its neighbour. */
import { z } from "zod";
import type { Price, PriceTier, ServiceTierPrice, TokenPrices, ToolPrice } from "../api/index.js";
import { serviceTierOf } from "../api/service-tier.js";
import { parseDecimal, parsePricePerMillion } from "../money.js";
import { block, named, reading, wholeNumber } from "./values.js";

/** A million USD per million tokens, in pico-USD per token. */
const TOKEN_PICOS_MAX = 1_000_000_000_000n;
/** A thousand USD per request, in pico-USD. */
const REQUEST_PICOS_MAX = 1_000_000_000_000_000n;

const PER_MILLION_RULE = 'must be USD per million tokens such as "0.25"';
const perMillion = reading(PER_MILLION_RULE, (value) => {
  const picos = parsePricePerMillion(value);
  return picos === undefined || picos > TOKEN_PICOS_MAX ? undefined : picos;
});

const perRequest = reading('must be USD per request such as "0.01"', (value) => {
  const picos = parseDecimal(value, 12);
  return picos === undefined || picos > REQUEST_PICOS_MAX ? undefined : picos;
});

const perThousandCalls = reading('must be USD per thousand calls such as "10.00"', (value) => {
  const picos = parseDecimal(value, 9);
  return picos === undefined || picos > REQUEST_PICOS_MAX ? undefined : picos;
});

/** In ten-thousandths, so that a multiplied price is exact but for one rounding up. */
const MULTIPLIER_ONE = 10_000n;
const multiplier = reading('must be a number such as "0.5", from 0.0001 to 100', (value) => {
  const parts = parseDecimal(value, 4);
  return parts === undefined || parts === 0n || parts > 100n * MULTIPLIER_ONE ? undefined : parts;
});

const components = {
  input: perMillion,
  cache_read: perMillion.optional(),
  cache_write: perMillion.optional(),
  cache_write_1h: perMillion.optional(),
  output: perMillion,
  reasoning: perMillion.optional(),
  image: perMillion.optional(),
  audio_input: perMillion.optional(),
  audio_output: perMillion.optional(),
  request: perRequest.default(0n),
};

const INPUT_TOKENS_MAX = 1_000_000_000;
const TIERS_RULE = "must be a list of tiers, such as [{ above_input_tokens: 200000, input: 6, output: 22.5 }]";

const tier = block({ above_input_tokens: wholeNumber(1, INPUT_TOKENS_MAX), ...components }).transform(
  (said): PriceTier => ({ aboveInputTokens: BigInt(said.above_input_tokens), prices: pricesOf(said) }),
);

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
  .default([]);

/** Either a multiple of the price around it, tiers and all, or a price of its own. */
const serviceTier = block({
  ...components,
  multiplier: multiplier.optional(),
  input: perMillion.optional(),
  output: perMillion.optional(),
  request: perRequest.optional(),
  tiers,
}).transform((said, context): OwnPrice | { readonly multiplier: bigint } => {
  const { multiplier, input, output, request = 0n, ...rest } = said;
  if (multiplier !== undefined) {
    const others = Object.entries(said).filter(([, value]) => value !== undefined && !isEmpty(value));
    for (const [name] of others) {
      if (name !== "multiplier") refuse(context, name, "must not stand beside multiplier, which says all of it");
    }
    return { multiplier };
  }
  if (input === undefined) refuse(context, "input", `is missing: ${PER_MILLION_RULE}; or say multiplier`);
  if (output === undefined) refuse(context, "output", `is missing: ${PER_MILLION_RULE}; or say multiplier`);
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
    context.addIssue({ code: "custom", message: "is the price itself: say it there", path: [name] });
  }
});

const whole = block({
  ...components,
  tiers,
  service_tiers: serviceTiers,
  tools: named(NAME, NAME_RULE, perThousandCalls),
});

/** `free`, or a block with at least input and output. */
export const price = z.preprocess(
  (value) => (value === "free" ? { input: "0", output: "0" } : value),
  whole.transform((said): Price => {
    const [prices, longer] = [pricesOf(said), said.tiers];
    const tools = Object.entries(said.tools).map(([name, callPicos]): ToolPrice => ({ name, callPicos }));
    const serviceTiers = Object.entries(said.service_tiers).map(([name, tier]): ServiceTierPrice => {
      if (!("multiplier" in tier)) return { name, prices: tier.prices, tiers: tier.tiers };
      const { multiplier: parts } = tier;
      return { name, prices: times(prices, parts), tiers: longer.map((one) => timesTier(one, parts)) };
    });
    return { ...prices, tiers: longer, serviceTiers, tools };
  }),
);

type Said = z.output<z.ZodObject<typeof components>>;

function pricesOf(said: Said): TokenPrices {
  const cacheWritePicos = said.cache_write ?? said.input;
  return {
    inputPicos: said.input,
    cacheReadPicos: said.cache_read ?? said.input,
    cacheWritePicos,
    cacheWrite1hPicos: said.cache_write_1h ?? cacheWritePicos,
    outputPicos: said.output,
    reasoningPicos: said.reasoning ?? said.output,
    imagePicos: said.image ?? said.input,
    audioInputPicos: said.audio_input ?? said.input,
    audioOutputPicos: said.audio_output ?? said.output,
    requestPicos: said.request,
  };
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
