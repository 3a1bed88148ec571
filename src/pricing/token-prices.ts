/** What each kind of token costs where a price does not name it: as the kind that it is a part of. Pure. */
import type { TokenPrices } from "../api/index.js";

type Named = "inputPicos" | "outputPicos" | "requestPicos";

/** Pico-USD; undefined where the price has no such component. */
export type SaidPrices = Pick<TokenPrices, Named> & {
  readonly [Component in Exclude<Extract<keyof TokenPrices, `${string}Picos`>, Named>]: bigint | undefined;
};

/** Input that is read from a cache costs what input does, unless its own price is known; and so on. */
export function tokenPrices({ inputPicos, outputPicos, requestPicos, ...said }: SaidPrices): TokenPrices {
  const cacheWritePicos = said.cacheWritePicos ?? inputPicos;
  return {
    inputPicos,
    cacheReadPicos: said.cacheReadPicos ?? inputPicos,
    cacheWritePicos,
    cacheWrite1hPicos: said.cacheWrite1hPicos ?? cacheWritePicos,
    outputPicos,
    reasoningPicos: said.reasoningPicos ?? outputPicos,
    imagePicos: said.imagePicos ?? inputPicos,
    audioInputPicos: said.audioInputPicos ?? inputPicos,
    audioOutputPicos: said.audioOutputPicos ?? outputPicos,
    requestPicos,
  };
}
