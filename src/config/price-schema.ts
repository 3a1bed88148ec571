/** A price in a settings file: USD per million tokens, exact, with what is left out taken from its neighbour. */
import { z } from "zod";
import type { Price } from "../api/index.js";
import { parseDecimal, parsePricePerMillion } from "../money.js";
import { block, reading } from "./values.js";

/** A million USD per million tokens, in pico-USD per token. */
const TOKEN_PICOS_MAX = 1_000_000_000_000n;
/** A thousand USD per request, in pico-USD. */
const REQUEST_PICOS_MAX = 1_000_000_000_000_000n;

const perMillion = reading('must be USD per million tokens such as "0.25"', (value) => {
  const picos = parsePricePerMillion(value);
  return picos === undefined || picos > TOKEN_PICOS_MAX ? undefined : picos;
});

const perRequest = reading('must be USD per request such as "0.01"', (value) => {
  const picos = parseDecimal(value, 12);
  return picos === undefined || picos > REQUEST_PICOS_MAX ? undefined : picos;
});

const components = block({
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
});

/** `free`, or a block with at least input and output. */
export const price = z.preprocess(
  (value) => (value === "free" ? { input: "0", output: "0" } : value),
  components.transform((said): Price => {
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
  }),
);
