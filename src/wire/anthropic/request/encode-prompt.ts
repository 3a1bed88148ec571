/** From the typed prompt to a body for an upstream of this wire. */
import type { Prompt } from "../../../api/index.js";
import {
  checkMeaning,
  dropSettings,
  encodeSampling,
  encodeStop,
  hintsOf,
  schemaOf,
} from "../../claude/request/encode-settings.js";
import { encodeReasoning, type Thinking } from "../../claude/request/encode-thinking.js";
import { arrayText, jsonOf, type MemberTexts, objectText } from "../../json/text.js";
import { withFittedMarks } from "../../request/cache-marks.js";
import { CACHE_MARKS_MAX } from "../../claude/request/encode-conversation.js";
import { withAnsweredCalls } from "../../request/answered-calls.js";
import { encodeExtra } from "../../request/extra.js";
import { leftOut } from "../../request/dropped-parameters.js";
import type { OwnedFields } from "../../wire.js";
import { WIRE_NAME } from "../facts.js";
import { encodeMessages } from "./encode-messages.js";
import { type PromptContext, textBlock } from "./encode-parts.js";
import { encodeTools } from "./encode-tools.js";

/** Throws PARAMETER_INVALID or PARAMETER_UNSUPPORTED for what the wire cannot say. */
export function encodePrompt(told: Prompt, owned: OwnedFields, context: PromptContext): Buffer {
  const prompt = withFittedMarks(told, CACHE_MARKS_MAX);
  checkMeaning(prompt, owned.candidateCount, context);
  const { rules, drop, isForeign } = context;
  const outputTokensMax = owned.outputTokensMax ?? rules.outputTokensMax;
  const reasoning = encodeReasoning(prompt, outputTokensMax, context);
  const schema = schemaOf(prompt.outputFormat);
  const isLimited = reasoning.isOn && context.isAsSaid !== true;
  const tools = encodeTools(prompt, isLimited, rules.schemas ? undefined : schema, context);
  const said = isForeign ? withAnsweredCalls(prompt.messages) : prompt.messages;
  const { system, messages } = encodeMessages(said, rules.prefill && !isLimited, context);
  const hints = hintsOf(prompt.outputFormat, schema, tools.nudge);
  const instructions = [...system, ...hints.map((hint) => textBlock(hint))];
  const { temperature, topP, topK } = encodeSampling(prompt, isLimited, context);
  const members: MemberTexts = [
    ["model", jsonOf(owned.model)],
    ["max_tokens", jsonOf(outputTokensMax)],
    ["system", instructions.length === 0 ? undefined : arrayText(instructions)],
    ["messages", messages],
    ["tools", tools.tools.length === 0 ? undefined : arrayText(tools.tools)],
    ["tool_choice", tools.choice],
    ["thinking", reasoning.thinking],
    ["output_config", encodeConfig(reasoning, rules.schemas ? schema : undefined)],
    ["temperature", temperature],
    ["top_p", topP],
    ["top_k", topK],
    ["stop_sequences", encodeStop(prompt, drop)],
    ["metadata", prompt.user === undefined ? undefined : `{"user_id":${JSON.stringify(prompt.user)}}`],
    ["service_tier", encodeTier(prompt.serviceTier, context)],
    ["stream", owned.stream ? "true" : undefined],
  ];
  if (isForeign)
    for (const name of leftOut(prompt, { wire: WIRE_NAME, cacheMarks: "anywhere", names: false })) drop(name);
  dropSettings(prompt, true, drop);
  return Buffer.from(objectText([...members, ...encodeExtra(prompt, WIRE_NAME, members, ["stream"])]));
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

function encodeConfig({ effort }: Thinking, schema: string | undefined): string | undefined {
  if (effort === undefined && schema === undefined) return undefined;
  return objectText([
    ["effort", jsonOf(effort)],
    ["format", schema === undefined ? undefined : `{"type":"json_schema","schema":${schema}}`],
  ]);
}
