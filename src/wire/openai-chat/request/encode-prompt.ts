/** From the typed prompt to a body for an upstream of this wire. */
import { type Prompt, type Reasoning, type Tool, ToolChoice_Mode } from "../../../api/index.js";
import { encodeExtra } from "../../request/extra.js";
import { jsonOf, type MemberTexts, objectText } from "../../json/text.js";
import { leftOut } from "../../request/dropped-parameters.js";
import { withCache } from "../../request/prompt-cache.js";
import { encodeMap, encodeUser } from "../../openai/request/encode-fields.js";
import {
  encodeOutputFormat,
  encodeToolChoice,
  encodeTools,
  type ToolGrammar,
} from "../../openai/request/encode-tools.js";
import { effortOf } from "../../request/efforts.js";
import type { OwnedFields } from "../../wire.js";
import { mustReportDropped } from "./encode-lacking.js";
import { encodeMessages, type MessageContext } from "./encode-messages.js";
import { messagesText } from "./encode-role-order.js";
import { WIRE_NAME } from "../facts.js";
import { thinkingMembers } from "./encode-thinking.js";

/** Throws PARAMETER_INVALID or PARAMETER_UNSUPPORTED for what the wire cannot say. */
export function encodePrompt(prompt: Prompt, owned: OwnedFields, context: MessageContext): Buffer {
  const { dialect } = context;
  const count = owned.candidateCount > 1 || prompt.candidateCount !== undefined ? owned.candidateCount : undefined;
  const tools = encodeTools(offeredTools(prompt, context), grammarOf(context));
  // A choice among no tools is refused, and so is what is said of their calls.
  const hasLostTools = tools === undefined && context.isForeign;
  if (hasLostTools && saysOfTools(prompt)) context.drop("tool_choice");
  const choice = encodeToolChoice(prompt.toolChoice, "below", dialect);
  const members: MemberTexts = [
    ["model", jsonOf(owned.model)],
    ["messages", messagesText(encodeMessages(prompt.messages, context))],
    ["tools", tools],
    ["tool_choice", hasLostTools ? undefined : choice],
    ["parallel_tool_calls", hasLostTools ? undefined : jsonOf(prompt.parallelToolCalls)],
    ["response_format", encodeOutputFormat(prompt.outputFormat, "below")],
    ...encodeReasoning(prompt.reasoning, context),
    ["temperature", jsonOf(prompt.temperature)],
    ["top_p", jsonOf(prompt.topP)],
    ["top_k", dialect.topK ? jsonOf(prompt.topK) : undefined],
    ["presence_penalty", jsonOf(prompt.presencePenalty)],
    ["frequency_penalty", jsonOf(prompt.frequencyPenalty)],
    [dialect.seedField, jsonOf(prompt.seed)],
    ["stop", prompt.stop.length === 0 ? undefined : JSON.stringify(prompt.stop)],
    ["n", jsonOf(count)],
    ["logprobs", jsonOf(prompt.logprobs)],
    ["top_logprobs", jsonOf(prompt.topLogprobs)],
    ["logit_bias", encodeMap(prompt.logitBias)],
    ["user", encodeUser(prompt.user)],
    ["metadata", encodeMap(prompt.metadata)],
    ["service_tier", jsonOf(prompt.serviceTier)],
    ["verbosity", jsonOf(prompt.verbosity)],
    ["prompt_cache_key", jsonOf(prompt.promptCacheKey)],
    [dialect.outputTokensField, jsonOf(owned.outputTokensMax)],
    ["stream", owned.stream ? "true" : dialect.saysWhole ? "false" : undefined],
    ["stream_options", owned.stream && dialect.streamUsage ? '{"include_usage":true}' : undefined],
  ];
  if (prompt.topK !== undefined && !dialect.topK) context.drop("top_k");
  if (context.isForeign) {
    const cacheMarks = dialect.cacheMark === "" ? "nowhere" : "parts";
    for (const name of leftOut(prompt, { wire: WIRE_NAME, cacheMarks, names: dialect.messageNames }))
      context.drop(name);
  }
  const takesSession = dialect.sessionIds || dialect.keepsBodies;
  const extra = encodeExtra(prompt, WIRE_NAME, members, OWNED).filter(([key]) => takesSession || key !== "session_id");
  const all = withCache([...members, ...extra], owned.cache);
  return Buffer.from(objectText(dialect.lacks.length === 0 ? all : withoutLacking(all, context)));
}

/** Without what the upstream lacks. Throws PARAMETER_UNSUPPORTED for what cannot be left out. */
function withoutLacking(members: MemberTexts, { dialect, model, drop }: MessageContext): MemberTexts {
  return members.filter(([key, json]) => {
    if (json === undefined || !dialect.lacks.includes(key)) return true;
    if (mustReportDropped(key, json, model)) drop(key);
    return false;
  });
}

/** A caller of the typed form names the upstream's own effort; one of another wire, the effort that it means. */
function encodeReasoning(reasoning: Reasoning | undefined, context: MessageContext): MemberTexts {
  const { dialect, facts, isForeign, drop } = context;
  if (reasoning === undefined) return [];
  if (!isForeign && dialect.thinkingControl === "reasoning_effort")
    return [["reasoning_effort", jsonOf(reasoning.effort)]];
  const members = thinkingMembers(reasoning, facts, dialect);
  if (members === undefined && effortOf(reasoning) !== undefined) drop("thinking");
  return members ?? [];
}

/** True where a choice means more than that there is one. */
function saysOfTools({ toolChoice }: Prompt): boolean {
  return toolChoice !== undefined && (toolChoice.names.length > 0 || toolChoice.mode === ToolChoice_Mode.MODE_REQUIRED);
}

/** The tools that the model may call: where a choice cannot name several, the others are not offered. */
function offeredTools({ tools, toolChoice }: Prompt, context: MessageContext): readonly Tool[] {
  const names = new Set(toolChoice?.names);
  if (names.size === 0 || context.dialect.allowedTools) return tools;
  return tools.filter(({ kind }) => kind?.$case === "opaque" || names.has(kind?.value.name ?? ""));
}

/** Members that the gateway owns and no one else may write. */
const OWNED = ["model", "messages", "n", "stream", "stream_options", "max_tokens", "max_completion_tokens"];

function grammarOf({ dialect, model, isForeign, drop }: MessageContext): ToolGrammar {
  const { customTools } = dialect;
  return { wire: WIRE_NAME, nesting: "below", model, isForeign, customTools, unstrict: undefined, drop };
}
