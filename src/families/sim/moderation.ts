/** The stand-in's judgements: what says `harm` is harmful, so that both answers can be tried. */
import { z } from "zod";
import type { BuiltInModel } from "../family.js";
import { parseBody } from "./refusal.js";

export const SIM_MODERATION_MODEL: BuiltInModel = {
  id: "sim-moderation-1",
  contextTokens: 32_000,
  outputTokensMax: 0,
  kind: "moderation",
};

const INPUTS_MAX = 2_048;
const CATEGORY = "violence";
const HARMFUL = /\bharm/i;
const SCORES = { harmful: 0.98, harmless: 0.01 };

const partSchema = z.looseObject({ type: z.string(), text: z.string().optional() });
const bodySchema = z.looseObject({
  model: z.string(),
  input: z.union([z.string(), z.array(z.string()).min(1).max(INPUTS_MAX), z.array(partSchema).min(1)]),
});

/** Answers a request for judgements. Throws a SimRefusal that names what is wrong. */
export function answerModeration(bytes: Buffer | undefined): string {
  const { input } = parseBody(bytes, bodySchema, SIM_MODERATION_MODEL.id);
  const results = textsOf(input).map((text) => {
    const flagged = HARMFUL.test(text);
    return {
      flagged,
      categories: { [CATEGORY]: flagged },
      category_scores: { [CATEGORY]: flagged ? SCORES.harmful : SCORES.harmless },
      category_applied_input_types: { [CATEGORY]: ["text"] },
    };
  });
  return JSON.stringify({ id: "modr-sim-1", model: SIM_MODERATION_MODEL.id, results });
}

/** Each text has a judgement of its own; all parts together have one. */
function textsOf(input: z.infer<typeof bodySchema>["input"]): readonly string[] {
  if (typeof input === "string") return [input];
  const texts = input.filter((one) => typeof one === "string");
  if (texts.length > 0) return texts;
  return [input.map((part) => (typeof part === "string" ? part : (part.text ?? ""))).join("\n")];
}
