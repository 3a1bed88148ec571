/** Prices for tests. */
import type { Price } from "../../src/api/index.js";

export const FREE: Price = {
  inputPicos: 0n,
  cacheReadPicos: 0n,
  cacheWritePicos: 0n,
  cacheWrite1hPicos: 0n,
  outputPicos: 0n,
  reasoningPicos: 0n,
  imagePicos: 0n,
  audioInputPicos: 0n,
  audioOutputPicos: 0n,
  requestPicos: 0n,
  tiers: [],
  serviceTiers: [],
  tools: [],
  rates: [],
  tokensUnpriced: false,
};

/** A price whose other components follow from these two. */
export function priceOf({ input, output }: { readonly input: bigint; readonly output: bigint }): Price {
  return {
    inputPicos: input,
    cacheReadPicos: input,
    cacheWritePicos: input,
    cacheWrite1hPicos: input,
    outputPicos: output,
    reasoningPicos: output,
    imagePicos: input,
    audioInputPicos: input,
    audioOutputPicos: output,
    requestPicos: 0n,
    tiers: [],
    serviceTiers: [],
    tools: [],
    rates: [],
    tokensUnpriced: false,
  };
}
