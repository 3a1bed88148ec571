/** From the typed prompt to a body for an upstream of this wire. */
import type { OutputFormat, Prompt } from "../../api/index.js";
import { answerSchema } from "../claude/answer-schema.js";
import { encodeReasoning, type Thinking } from "../claude/thinking.js";
import { encodeExtra } from "../extra.js";
import { arrayText, checkedJson, jsonOf, type MemberTexts, objectText } from "../json/text.js";
import { leftOut } from "../left-out.js";
import type { OwnedFields } from "../wire.js";
import { withAnsweredCalls } from "../answered-calls.js";
import { encodeConversation } from "./messages-encode.js";
import { type PromptContext, textBlock, unsupported } from "./part-encode.js";
import { WIRE_NAME } from "./schema.js";
import { encodeTools } from "./tools-encode.js";

const JSON_HINT = "Answer with a single JSON object and nothing else.";
const TOP_P_MIN_THINKING = 0.95;

/** Throws PARAMETER_INVALID or PARAMETER_UNSUPPORTED for what the wire cannot say. */
export function encodePrompt(prompt: Prompt, owned: OwnedFields, context: PromptContext): Buffer {
  checkMeaning(prompt, owned, context);
  const { rules } = context;
  const knownMax = owned.outputTokensMax ?? owned.facts?.outputTokensMax;
  const reasoning = encodeReasoning(prompt, knownMax ?? rules.outputTokensMax, context);
  const format = prompt.outputFormat;
  const schema = schemaOf(format);
  const tools = encodeTools(prompt, reasoning.isOn, rules.schemas ? undefined : schema, context);
  const mayPrefill = rules.prefill && !reasoning.isOn;
  const { system, messages } = encodeConversation(withAnsweredCalls(prompt.messages), mayPrefill, context);
  const isLoose =
    format?.kind?.$case === "jsonObject" || (format?.kind?.$case === "jsonSchema" && schema === undefined);
  const hints = [isLoose ? JSON_HINT : undefined, tools.nudge].filter((hint) => hint !== undefined);
  const instructions = [...system, ...hints.map(textBlock)];
  // A budget of thoughts must lie within a limit that is told.
  const outputTokensMax = knownMax ?? (reasoning.isOn ? rules.outputTokensMax : undefined);
  const stop = encodeStop(prompt, context);
  const members: MemberTexts = [
    ["system", instructions.length === 0 ? undefined : arrayText(instructions)],
    ["messages", messages],
    ["inferenceConfig", filled(encodeInference(prompt, outputTokensMax, stop, reasoning, context))],
    ["toolConfig", tools.config],
    ["outputConfig", filled(encodeOutput(format, rules.schemas ? schema : undefined, reasoning))],
    ["additionalModelRequestFields", filled(encodeAdditional(prompt, reasoning, context))],
    // Which of the strings it was stands in no other place.
    ["additionalModelResponseFieldPaths", stop === undefined ? undefined : '["/stop_sequence"]'],
    ["serviceTier", encodeTier(prompt.serviceTier, context)],
  ];
  dropOthers(prompt, context);
  return Buffer.from(objectText([...members, ...encodeExtra(prompt, WIRE_NAME, members)]));
}

/** What would make another answer of it is refused. */
function checkMeaning(prompt: Prompt, owned: OwnedFields, context: PromptContext): void {
  if (owned.candidateCount > 1) throw unsupported("n", "it gives one answer", context);
  if (prompt.logprobs === true) throw unsupported("logprobs", "it tells no probabilities", context);
  if ((prompt.topLogprobs ?? 0) > 0) throw unsupported("top_logprobs", "it tells no probabilities", context);
}

/** What has no place on the wire and changes no meaning. */
function dropOthers(prompt: Prompt, { cacheMarks, drop }: PromptContext): void {
  for (const name of leftOut(prompt, { wire: WIRE_NAME, cacheMarks, names: false })) drop(name);
  if (prompt.seed !== undefined) drop("seed");
  if (prompt.presencePenalty !== undefined && prompt.presencePenalty !== 0) drop("presence_penalty");
  if (prompt.frequencyPenalty !== undefined && prompt.frequencyPenalty !== 0) drop("frequency_penalty");
  if (Object.keys(prompt.logitBias).length > 0) drop("logit_bias");
  if (Object.keys(prompt.metadata).length > 0) drop("metadata");
  if (prompt.user !== undefined) drop("user");
  if (prompt.verbosity !== undefined) drop("verbosity");
  if (prompt.promptCacheKey !== undefined) drop("prompt_cache_key");
}

function encodeInference(
  { temperature, topP }: Prompt,
  outputTokensMax: number | undefined,
  stop: string | undefined,
  { isOn }: Thinking,
  { rules, drop }: PromptContext,
): MemberTexts {
  const mayPick = rules.sampling !== "none";
  // While it thinks, it takes its own temperature. That the highest is 1 is remembered.
  const hasTemperature = temperature !== undefined && mayPick && !isOn;
  const mayHaveBoth = rules.sampling === "both" || !hasTemperature;
  const hasTopP = topP !== undefined && mayPick && mayHaveBoth && (!isOn || topP >= TOP_P_MIN_THINKING);
  if (temperature !== undefined && !hasTemperature) drop("temperature");
  if (topP !== undefined && !hasTopP) drop("top_p");
  return [
    ["maxTokens", jsonOf(outputTokensMax)],
    ["temperature", hasTemperature ? jsonOf(Math.min(1, temperature)) : undefined],
    ["topP", hasTopP ? jsonOf(topP) : undefined],
    ["stopSequences", stop],
  ];
}

/** Strings that are blank are refused, and end no answer that means anything. */
function encodeStop(prompt: Prompt, { drop }: PromptContext): string | undefined {
  const stop = prompt.stop.filter((text) => text.trim() !== "");
  if (stop.length < prompt.stop.length) drop("stop");
  return stop.length === 0 ? undefined : JSON.stringify(stop);
}

function encodeOutput(format: OutputFormat | undefined, schema: string | undefined, { effort }: Thinking): MemberTexts {
  const asked = format?.kind?.$case === "jsonSchema" ? format.kind.value : undefined;
  const definition = objectText([
    // The schema is a text here, as the wire has it.
    ["schema", jsonOf(schema)],
    ["name", asked?.name === "" ? undefined : jsonOf(asked?.name)],
    ["description", jsonOf(asked?.description)],
  ]);
  const text = `{"type":"json_schema","structure":{"jsonSchema":${definition}}}`;
  return [
    ["textFormat", schema === undefined ? undefined : text],
    // As AWS's own client of November 2026 has it; the reference that we could read does not name it yet.
    ["effort", jsonOf(effort)],
  ];
}

/** The schema of the answer, as the wire takes it; undefined where none is asked for. */
function schemaOf(format: OutputFormat | undefined): string | undefined {
  if (format?.kind?.$case !== "jsonSchema" || format.kind.value.schemaJson === undefined) return undefined;
  return answerSchema(checkedJson(format.kind.value.schemaJson, "response_format.json_schema.schema") ?? "{}");
}

/** What only the makers of some models take. */
function encodeAdditional({ topK }: Prompt, { thinking, isOn }: Thinking, context: PromptContext): MemberTexts {
  const hasTopK = topK !== undefined && context.takesTopK && context.rules.sampling !== "none" && !isOn;
  if (topK !== undefined && !hasTopK) context.drop("top_k");
  return [
    ["thinking", thinking],
    ["top_k", hasTopK ? jsonOf(topK) : undefined],
  ];
}

/** That these are the words of the wire is remembered. */
const TIERS: ReadonlyMap<string, string> = new Map([
  ["default", "default"],
  ["standard_only", "default"],
  ["priority", "priority"],
  ["flex", "flex"],
]);

function encodeTier(tier: string | undefined, { drop }: PromptContext): string | undefined {
  if (tier === undefined || tier.toLowerCase() === "auto") return undefined;
  const known = TIERS.get(tier.toLowerCase());
  if (known === undefined) drop("service_tier");
  return known === undefined ? undefined : `{"type":"${known}"}`;
}

/** The object of the members; undefined where it would be empty. */
function filled(members: MemberTexts): string | undefined {
  return members.some(([, json]) => json !== undefined) ? objectText(members) : undefined;
}
