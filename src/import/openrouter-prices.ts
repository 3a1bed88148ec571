/** `tollgate import openrouter-prices`: OpenRouter's list of models, as its API answers, as models with prices. */
import { z } from "zod";
import { type Draft, type DraftPrice, emptyDraft } from "./draft.js";
import { perMillion } from "./per-million.js";

const MODEL_ID = /^[a-z0-9][a-z0-9._:/@-]{0,127}$/;
const LIST = z.object({
  data: z.array(
    z.object({
      id: z.string(),
      context_length: z.number().int().positive().nullish(),
      pricing: z.record(z.string(), z.unknown()),
      top_provider: z.object({ max_completion_tokens: z.number().int().positive().nullish() }).nullish(),
      architecture: z
        .object({ input_modalities: z.array(z.string()).nullish(), output_modalities: z.array(z.string()).nullish() })
        .nullish(),
    }),
  ),
});
const UPSTREAM = "openrouter";
/** Prices that have a place: by its name, what the list calls it. */
const PLACES = {
  cache_read: "input_cache_read",
  cache_write: "input_cache_write",
  reasoning: "internal_reasoning",
} as const;
const READ = new Set(["prompt", "completion", "request", ...Object.values(PLACES)]);

/** Reads what `GET https://openrouter.ai/api/v1/models` answers. Throws an Error where it is something else. */
export function importOpenRouterPrices(text: string): Draft {
  const read = LIST.safeParse(jsonOf(text));
  if (!read.success) throw new Error("it is no list of OpenRouter's models: save what GET /api/v1/models answers");
  const draft = emptyDraft();
  draft.upstreams.set(UPSTREAM, { family: "openrouter", api_key: "${OPENROUTER_API_KEY}" });
  for (const { id, context_length: context, pricing, top_provider: top, architecture } of read.data.data) {
    const skip = (reason: string): number => draft.notes.push({ what: id, reason });
    if (!MODEL_ID.test(id.toLowerCase())) skip("its name has letters that a model's name may not have here");
    else if (architecture?.output_modalities?.includes("text") === false) skip("it answers no text");
    else {
      const price = priceOf(pricing, skip);
      if (price === undefined) continue;
      const output = top?.max_completion_tokens ?? context;
      const images = architecture?.input_modalities?.includes("image");
      draft.models.set(id.toLowerCase(), {
        targets: [{ upstream: UPSTREAM, ...(id === id.toLowerCase() ? {} : { model: id }) }],
        ...(typeof context === "number" ? { context_tokens: context } : {}),
        ...(typeof output === "number" ? { output_tokens_max: output } : {}),
        price,
        ...(images === undefined ? {} : { facts: { images } }),
      });
    }
  }
  return draft;
}

function priceOf(pricing: Readonly<Record<string, unknown>>, skip: (reason: string) => void): DraftPrice | undefined {
  const text = (name: string): string => (typeof pricing[name] === "object" ? "" : String(pricing[name] ?? ""));
  const [input, output] = [perMillion(text("prompt")), perMillion(text("completion"))];
  if (input === undefined || output === undefined) {
    skip("its price is not fixed, so that nothing can be set aside for a request");
    return undefined;
  }
  const others = Object.keys(pricing).filter((name) => !READ.has(name) && Number(text(name)) !== 0);
  if (others.length > 0) skip(`carried without its prices of ${others.join(", ")}, which are not per token here`);
  const rest = Object.entries(PLACES).flatMap(([place, name]) => {
    const price = perMillion(text(name));
    return price === undefined || Number(price) === 0 ? [] : [[place, price] as const];
  });
  const request = text("request");
  const isCharged = /^\d+(\.\d{1,12})?$/.test(request) && Number(request) > 0;
  return { input, output, ...Object.fromEntries(rest), ...(isCharged ? { request } : {}) };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
