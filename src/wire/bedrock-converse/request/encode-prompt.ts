/** From the typed prompt to a body for an upstream of this wire. */
import type { OutputFormat, Prompt } from "../../../api/index.js";
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
  const { rules, drop, cacheMarks } = context;
  const knownMax = owned.outputTokensMax ?? owned.facts?.outputTokensMax;
  const reasoning = encodeReasoning(prompt, knownMax ?? rules.outputTokensMax, context);
  const format = prompt.outputFormat;
  const schema = schemaOf(format);
  const tools = encodeTools(prompt, reasoning.isOn, rules.schemas ? undefined : schema, context);
  const mayPrefill = rules.prefill && !reasoning.isOn;
  const { system, messages } = encodeMessages(withAnsweredCalls(prompt.messages), mayPrefill, context);
  const instructions = [...system, ...hintsOf(format, schema, tools.nudge).map(textBlock)];
  // A budget of thoughts must lie within a limit that is told.
  const outputTokensMax = knownMax ?? (reasoning.isOn ? rules.outputTokensMax : undefined);
  const stop = encodeStop(prompt, drop);
  const { temperature, topP, topK } = encodeSampling(prompt, reasoning.isOn, context, context.takesTopK);
  const inference: MemberTexts = [
    ["maxTokens", jsonOf(outputTokensMax)],
    ["temperature", temperature],
    ["topP", topP],
    ["stopSequences", stop],
  ];
  // What only the makers of some models take.
  const additional: MemberTexts = [
    ["thinking", reasoning.thinking],
    ["top_k", topK],
  ];
  const members: MemberTexts = [
    ["system", instructions.length === 0 ? undefined : arrayText(instructions)],
    ["messages", messages],
    ["inferenceConfig", filled(inference)],
    ["toolConfig", tools.config],
    ["outputConfig", filled(encodeOutput(format, rules.schemas ? schema : undefined, reasoning))],
    ["additionalModelRequestFields", filled(additional)],
    // Which of the strings it was stands in no other place.
    ["additionalModelResponseFieldPaths", stop === undefined ? undefined : '["/stop_sequence"]'],
    ["serviceTier", encodeTier(prompt.serviceTier, context)],
  ];
  for (const name of leftOut(prompt, {
    wire: WIRE_NAME,
    cacheMarks: cacheMarks ? "anywhere" : "nowhere",
    names: false,
  }))
    drop(name);
  dropSettings(prompt, false, drop);
  return Buffer.from(objectText([...members, ...encodeExtra(prompt, WIRE_NAME, members)]));
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
