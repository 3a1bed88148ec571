/** What models of other makers take and refuse, by their names; the first row that fits holds. */
import type { ModelFacts } from "../wire/wire.js";

interface Row {
  readonly name: RegExp;
  readonly facts: ModelFacts;
}

const EFFORTS = ["low", "medium", "high"];

/**
 * OpenAI's. Sources: the refusals of the API as issue threads quote them ("Supported values are: ..."), Microsoft's
 * reference of the same models, and the capabilities in @ai-sdk/openai. Their limits, and whether they see pictures,
 * come from the package of the tokenizer.
 */
const OPENAI: readonly Row[] = [
  { name: /^gpt-5(\.\d+)?-chat/, facts: { thinking: "none", sampling: "both" } },
  { name: /^gpt-oss/, facts: { thinking: "effort", efforts: EFFORTS, sampling: "both", images: false } },
  { name: /^o\d/, facts: { thinking: "effort", efforts: EFFORTS, sampling: "none" } },
  { name: /^gpt-5-pro/, facts: { thinking: "effort", efforts: ["high"], sampling: "none" } },
  { name: /^gpt-5(\.1)?-codex(-mini)?(-\d|$)/, facts: { thinking: "effort", efforts: EFFORTS, sampling: "none" } },
  {
    name: /^gpt-5\.\d+-(codex|pro)/,
    facts: { thinking: "effort", efforts: [...EFFORTS, "xhigh"], sampling: "none" },
  },
  { name: /^gpt-5(-|$)/, facts: { thinking: "effort", efforts: ["minimal", ...EFFORTS], sampling: "none" } },
  { name: /^gpt-5\.1(-|$)/, facts: { thinking: "effort", efforts: ["none", ...EFFORTS], sampling: "none" } },
  {
    name: /^gpt-5\.[2-5](-|$)/,
    facts: { thinking: "effort", efforts: ["none", ...EFFORTS, "xhigh"], sampling: "none" },
  },
  {
    name: /^gpt-5\.|^gpt-6-(sol|luna)$|^gpt-6\.1-terra$/,
    facts: { thinking: "effort", efforts: ["none", ...EFFORTS, "xhigh", "max"], sampling: "none" },
  },
  { name: /^gpt-[6-9]/, facts: { thinking: "effort", efforts: [...EFFORTS, "xhigh", "max"], sampling: "none" } },
  { name: /^gpt-(4|3\.5)/, facts: { thinking: "none", sampling: "both" } },
];

/**
 * Efforts in tokens of thinking. Low, medium and high are what Google's own endpoint for OpenAI's clients makes of
 * them. The others are ours: minimal is the least that Flash-Lite takes, and above high there is no more on Flash.
 */
const BUDGETS = { none: 0, minimal: 512, low: 1_024, medium: 8_192, high: 24_576, xhigh: 24_576, max: 24_576 };

const OLDER_GEMINI: ModelFacts = { thinking: "none", efforts: [], signedCalls: false, resultImages: false };
const BUDGETED_GEMINI: ModelFacts = { ...OLDER_GEMINI, thinking: "budget", budgets: BUDGETS };
const GEMINI_3: ModelFacts = { thinking: "effort", signedCalls: true, resultImages: true };

/** Google's. Sources: its pages on thinking and on each model (ai.google.dev, docs.cloud.google.com). */
const GOOGLE: readonly Row[] = [
  // 8192 and both contexts of these two generations: remembered; their pages are gone with them.
  {
    name: /^gemini-1\.5-pro/,
    facts: { ...OLDER_GEMINI, contextTokens: 2_097_152, outputTokensMax: 8_192, images: true, tools: true },
  },
  {
    name: /^gemini-(1\.5|2\.0)-/,
    facts: { ...OLDER_GEMINI, contextTokens: 1_048_576, outputTokensMax: 8_192, images: true, tools: true },
  },
  { name: /^gemini-1|^gemma|^learnlm/, facts: OLDER_GEMINI },
  {
    name: /^gemini-2\.5-pro/,
    // It cannot be kept from thinking at all: 128 is the least that it takes.
    facts: { ...BUDGETED_GEMINI, budgets: { ...BUDGETS, none: 128 }, ...limitsOfGemini() },
  },
  { name: /^gemini-2\.5/, facts: { ...BUDGETED_GEMINI, ...limitsOfGemini() } },
  { name: /^gemini-3-pro/, facts: { ...GEMINI_3, efforts: ["low", "high"], ...limitsOfGemini() } },
  { name: /^gemini-3\.1-pro/, facts: { ...GEMINI_3, efforts: EFFORTS, ...limitsOfGemini() } },
  { name: /^gemini-3/, facts: { ...GEMINI_3, efforts: ["minimal", ...EFFORTS], ...limitsOfGemini() } },
];

/** All models from 2.5 on that the pages list. */
function limitsOfGemini(): ModelFacts {
  return { contextTokens: 1_048_576, outputTokensMax: 65_536, images: true, tools: true };
}

/** DeepSeek's (api-docs.deepseek.com/guides/thinking_mode) and Moonshot's (platform.kimi.ai/docs). */
const DEEPSEEK_AND_KIMI: readonly Row[] = [
  {
    name: /^deepseek-chat$/,
    facts: { thinking: "switch", withoutThinking: "disabled", efforts: ["low", "high", "max"] },
  },
  {
    name: /^deepseek-(v[4-9]|reasoner$)/,
    facts: {
      thinking: "switch",
      thinksUnasked: true,
      withoutThinking: "disabled",
      efforts: ["low", "high", "max"],
    },
  },
  { name: /^kimi-k3/, facts: { thinking: "effort", efforts: ["low", "high", "max"], sampling: "none" } },
  { name: /^kimi-k2\.7-code/, facts: { thinking: "always", efforts: [], sampling: "none", forcedTools: false } },
  {
    name: /^kimi-k2\.[56]/,
    facts: { thinking: "switch", withoutThinking: "disabled", efforts: [], sampling: "none", forcedTools: false },
  },
  { name: /^moonshot-v1/, facts: { thinking: "none", efforts: [] } },
];

/** xAI's (docs.x.ai, reasoning), Alibaba's (Model Studio, deep thinking) and Mistral's. */
const OTHERS: readonly Row[] = [
  { name: /^grok-4\.[5-9]/, facts: { thinking: "effort", efforts: EFFORTS } },
  { name: /^grok-4\.3/, facts: { thinking: "effort", efforts: ["none", ...EFFORTS] } },
  { name: /^grok-3-mini/, facts: { thinking: "effort", efforts: ["low", "high"] } },
  { name: /^grok-.*non-reasoning/, facts: { thinking: "none", efforts: [] } },
  { name: /^grok-(4|code)/, facts: { thinking: "always", efforts: [] } },
  { name: /^(qwq|qvq)/, facts: { thinking: "always", streamOnly: true } },
  { name: /^qwen(-(plus|turbo|flash|max)|3\.\d|3-\d)/, facts: { thinking: "switch", withoutThinking: "disabled" } },
];

const ROWS = [...OPENAI, ...GOOGLE, ...DEEPSEEK_AND_KIMI, ...OTHERS];

/** The facts of a model by its name; undefined where no row fits. */
export function namedFacts(name: string): ModelFacts | undefined {
  return ROWS.find((row) => row.name.test(name))?.facts;
}
