/** How much known models read and say at most. */

/** Limits of a model; undefined where nobody knows. */
export interface ModelLimits {
  readonly contextTokens: number | undefined;
  readonly outputTokensMax: number | undefined;
}

const UNKNOWN: ModelLimits = { contextTokens: undefined, outputTokensMax: undefined };

/** Models that no package tells of, by name; the first that fits holds. */
const KNOWN_LIMITS: readonly {
  readonly name: RegExp;
  readonly outputTokensMax: number;
  readonly contextTokens?: number;
}[] = [
  { name: /^claude-3-haiku/, outputTokensMax: 4_096 },
  { name: /^claude-3-(?:opus|sonnet)/, outputTokensMax: 4_096 },
  { name: /^claude-3-5-/, outputTokensMax: 8_192 },
  { name: /^claude-3-7-/, outputTokensMax: 64_000 },
  { name: /^claude-opus-4(?:-[01])?(?:-\d{8})?$/, outputTokensMax: 32_000 },
  { name: /^claude-(?:sonnet-4(?:-[0-5])?|opus-4-5|haiku-4-5)(?:-\d{8})?$/, outputTokensMax: 64_000 },
  { name: /^claude-(?:sonnet|opus|haiku|fable)-(?:4-[6-9]|[5-9])/, outputTokensMax: 128_000 },
  { name: /^gemini-1\.5-pro/, outputTokensMax: 8_192, contextTokens: 2_097_152 },
  { name: /^gemini-(?:1\.5|2\.0)-/, outputTokensMax: 8_192, contextTokens: 1_048_576 },
  { name: /^gemini-(?:2\.5|3)/, outputTokensMax: 65_536, contextTokens: 1_048_576 },
];

/** The limits of a model by its name; what stands before a slash, as in `openai/gpt-4o`, is not part of it. */
export async function modelLimits(modelId: string): Promise<ModelLimits> {
  const name = modelId.slice(modelId.lastIndexOf("/") + 1).toLowerCase();
  const row = KNOWN_LIMITS.find((limit) => limit.name.test(name));
  if (row !== undefined) return { contextTokens: row.contextTokens, outputTokensMax: row.outputTokensMax };
  // The models of the tokenizer's package alone, without its tokens: 10 ms and 3 MB, when first asked.
  const models: Readonly<Record<string, unknown>> = await import("gpt-tokenizer/models.gen");
  const found = Object.hasOwn(models, name) ? models[name] : undefined;
  if (typeof found !== "object" || found === null) return UNKNOWN;
  return { contextTokens: tokens(found, "context_window"), outputTokensMax: tokens(found, "max_output_tokens") };
}

function tokens(model: object, member: string): number | undefined {
  const value: unknown = Reflect.get(model, member);
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : undefined;
}
