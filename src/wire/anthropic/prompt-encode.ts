/** From the typed prompt to a body for an upstream of this wire. */
import type { OutputFormat, Prompt } from "../../api/index.js";
import { encodeExtra } from "../extra.js";
import { arrayText, checkedJson, jsonOf, type MemberTexts, objectText } from "../json/text.js";
import { leftOut } from "../left-out.js";
import type { OwnedFields } from "../wire.js";
import { answerSchema } from "../claude/answer-schema.js";
import { withAnsweredCalls } from "../answered-calls.js";
import { encodeConversation } from "./messages-encode.js";
import { type PromptContext, textBlock, unsupported } from "./part-encode.js";
import { encodeReasoning, type Thinking } from "../claude/thinking.js";
import { WIRE_NAME } from "./schema.js";
import { encodeTools } from "./tools-encode.js";

const TOP_P_MIN_THINKING = 0.95;
const JSON_HINT = "Answer with a single JSON object and nothing else.";

/** Throws PARAMETER_INVALID or PARAMETER_UNSUPPORTED for what the wire cannot say. */
export function encodePrompt(prompt: Prompt, owned: OwnedFields, context: PromptContext): Buffer {
  checkMeaning(prompt, owned, context);
  const { rules } = context;
  const outputTokensMax = owned.outputTokensMax ?? rules.outputTokensMax;
  const reasoning = encodeReasoning(prompt, outputTokensMax, context);
  const schema = schemaOf(prompt.outputFormat);
  const tools = encodeTools(prompt, reasoning.isOn, rules.schemas ? undefined : schema, context);
  const marked = prompt.tools.filter(({ cacheMark }) => cacheMark !== undefined).length;
  const mayPrefill = rules.prefill && !reasoning.isOn;
  const { system, messages } = encodeConversation(
    context.isForeign ? withAnsweredCalls(prompt.messages) : prompt.messages,
    marked,
    mayPrefill,
    context,
  );
  const isAnyJson = prompt.outputFormat?.kind?.$case === "jsonObject";
  const isLoose = isAnyJson || (prompt.outputFormat?.kind?.$case === "jsonSchema" && schema === undefined);
  const hints = [isLoose ? JSON_HINT : undefined, tools.nudge].filter((hint) => hint !== undefined);
  const instructions = [...system, ...hints.map((hint) => textBlock(hint))];
  const members: MemberTexts = [
    ["model", jsonOf(owned.model)],
    ["max_tokens", jsonOf(outputTokensMax)],
    ["system", instructions.length === 0 ? undefined : arrayText(instructions)],
    ["messages", messages],
    ["tools", tools.tools.length === 0 ? undefined : arrayText(tools.tools)],
    ["tool_choice", tools.choice],
    ["thinking", reasoning.thinking],
    ["output_config", encodeConfig(reasoning, rules.schemas ? schema : undefined)],
    ...encodeSampling(prompt, reasoning, context),
    ["stop_sequences", encodeStop(prompt, context)],
    ["metadata", prompt.user === undefined ? undefined : `{"user_id":${JSON.stringify(prompt.user)}}`],
    ["service_tier", encodeTier(prompt.serviceTier, context)],
    ["stream", owned.stream ? "true" : undefined],
  ];
  dropOthers(prompt, context);
  return Buffer.from(objectText([...members, ...encodeExtra(prompt, WIRE_NAME, members, ["stream"])]));
}

/** What would make another answer of it is refused. */
function checkMeaning(prompt: Prompt, owned: OwnedFields, context: PromptContext): void {
  if (owned.candidateCount > 1) throw unsupported("n", "it gives one answer", context);
  if (prompt.logprobs === true) throw unsupported("logprobs", "it tells no probabilities", context);
  if ((prompt.topLogprobs ?? 0) > 0) throw unsupported("top_logprobs", "it tells no probabilities", context);
}

/** What has no place on the wire and changes no meaning. */
function dropOthers(prompt: Prompt, { drop, isForeign }: PromptContext): void {
  if (isForeign) for (const name of leftOut(prompt, { wire: WIRE_NAME, cacheMarks: true, names: false })) drop(name);
  if (prompt.seed !== undefined) drop("seed");
  if (prompt.presencePenalty !== undefined && prompt.presencePenalty !== 0) drop("presence_penalty");
  if (prompt.frequencyPenalty !== undefined && prompt.frequencyPenalty !== 0) drop("frequency_penalty");
  if (Object.keys(prompt.logitBias).length > 0) drop("logit_bias");
  if (Object.keys(prompt.metadata).length > 0) drop("metadata");
  if (prompt.verbosity !== undefined) drop("verbosity");
  if (prompt.promptCacheKey !== undefined) drop("prompt_cache_key");
}

function encodeSampling(prompt: Prompt, { isOn }: Thinking, { rules, drop }: PromptContext): MemberTexts {
  const { temperature, topP, topK } = prompt;
  const mayPick = rules.sampling !== "none";
  // While it thinks, it takes its own temperature.
  const hasTemperature = temperature !== undefined && mayPick && !isOn;
  const mayHaveBoth = rules.sampling === "both" || !hasTemperature;
  const hasTopP = topP !== undefined && mayPick && mayHaveBoth && (!isOn || topP >= TOP_P_MIN_THINKING);
  const hasTopK = topK !== undefined && mayPick && !isOn;
  if (temperature !== undefined && !hasTemperature) drop("temperature");
  if (topP !== undefined && !hasTopP) drop("top_p");
  if (topK !== undefined && !hasTopK) drop("top_k");
  return [
    ["temperature", hasTemperature ? jsonOf(Math.min(1, temperature)) : undefined],
    ["top_p", hasTopP ? jsonOf(topP) : undefined],
    ["top_k", hasTopK ? jsonOf(topK) : undefined],
  ];
}

/** Strings that are blank are refused, and end no answer that means anything. */
function encodeStop(prompt: Prompt, { drop }: PromptContext): string | undefined {
  const stop = prompt.stop.filter((text) => text.trim() !== "");
  if (stop.length < prompt.stop.length) drop("stop");
  return stop.length === 0 ? undefined : JSON.stringify(stop);
}

const TIERS: ReadonlyMap<string, string> = new Map([
  ["auto", "auto"],
  ["priority", "auto"],
  ["default", "standard_only"],
  ["standard_only", "standard_only"],
]);

function encodeTier(tier: string | undefined, { drop }: PromptContext): string | undefined {
  if (tier === undefined) return undefined;
  const known = TIERS.get(tier.toLowerCase());
  if (known === undefined) drop("service_tier");
  return jsonOf(known);
}

/** The schema of the answer, as the wire takes it; undefined where none is asked for. */
function schemaOf(format: OutputFormat | undefined): string | undefined {
  if (format?.kind?.$case !== "jsonSchema" || format.kind.value.schemaJson === undefined) return undefined;
  return answerSchema(checkedJson(format.kind.value.schemaJson, "response_format.json_schema.schema") ?? "{}");
}

function encodeConfig({ effort }: Thinking, schema: string | undefined): string | undefined {
  if (effort === undefined && schema === undefined) return undefined;
  return objectText([
    ["effort", jsonOf(effort)],
    ["format", schema === undefined ? undefined : `{"type":"json_schema","schema":${schema}}`],
  ]);
}
