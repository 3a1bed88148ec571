/** What the clients of every format are told of a model beside what their own formats have a member for. */
import type { ModelCapabilities, Price, Rate } from "../api/index.js";
import { rateUsd } from "../api/rate-words.js";
import { formatPricePerMillion, formatUsd, picosToNanos } from "../base/money.js";

/** What nobody knows is null. */
export function shownCapabilities(capabilities: ModelCapabilities | undefined): object {
  const known: Partial<ModelCapabilities> = capabilities ?? {};
  const { images = null, tools = null, schemas = null, thinking = null, efforts = [] } = known;
  return { images, tools, schemas, thinking, efforts };
}

/** USD per million tokens, per request and per unit, as decimal texts; what is free, or does not occur, is left out. */
export function shownPrice(price: Price | undefined): object | null {
  if (price === undefined) return null;
  const perMillion = {
    input: price.inputPicos,
    cache_read: price.cacheReadPicos,
    cache_write: price.cacheWritePicos,
    cache_write_1h: price.cacheWrite1hPicos,
    output: price.outputPicos,
    reasoning: price.reasoningPicos,
    image: price.imagePicos,
    audio_input: price.audioInputPicos,
    audio_output: price.audioOutputPicos,
  };
  const paid = Object.entries(perMillion).filter(
    ([name, picos]) => picos > 0n || (!price.tokensUnpriced && (name === "input" || name === "output")),
  );
  return {
    unit: "USD per million tokens",
    ...Object.fromEntries(paid.map(([name, picos]) => [name, formatPricePerMillion(picos)])),
    ...(price.requestPicos > 0n ? { request_usd: formatUsd(picosToNanos(price.requestPicos)) } : {}),
    ...(price.rates.length > 0 ? { units: price.rates.map(shownRate) } : {}),
  };
}

function shownRate(rate: Rate): object {
  const { unit, variant, per, step, minimum } = rate;
  return {
    unit,
    ...(variant === "" ? {} : { variant }),
    usd: rateUsd(rate),
    per: Number(per),
    ...(step > 1n ? { step: Number(step) } : {}),
    ...(minimum > 0n ? { minimum: Number(minimum) } : {}),
  };
}
