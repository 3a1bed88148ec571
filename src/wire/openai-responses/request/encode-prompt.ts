/** From the typed prompt to a body for an upstream of this wire. */
import type { Prompt, Reasoning } from "../../../api/index.js";
import { unsupported } from "../../error/refusals.js";
import { encodeExtra } from "../../request/extra.js";
import { CALLS_MAX_DEFAULT } from "../../request/hosted-tools.js";
import { arrayText, jsonOf, type MemberTexts, objectText } from "../../json/text.js";
import { leftOut } from "../../request/dropped-parameters.js";
import { withCache } from "../../request/prompt-cache.js";
import { encodeMap, encodeUser } from "../../openai/request/encode-fields.js";
import { effortOf, effortsOf, nearestEffort } from "../../request/efforts.js";
import {
  encodeOutputFormat,
  encodeToolChoice,
  encodeTools,
  type ToolGrammar,
} from "../../openai/request/encode-tools.js";
import type { ModelFacts, OwnedFields } from "../../wire.js";
import { encodeItems } from "./encode-messages.js";
import { WIRE_NAME } from "../facts.js";

/**
 * Throws PARAMETER_INVALID or PARAMETER_UNSUPPORTED for what the wire cannot say. `isForeign` tells that the prompt
 * came in another wire; `dropped` takes the names of what has no place and changes no meaning.
 */
export function encodePrompt(prompt: Prompt, owned: OwnedFields, isForeign: boolean, dropped: string[]): Buffer {
  const { model } = owned;
  const drop = (param: string): void => void dropped.push(param);
  checkPlaces(prompt, owned, dropped);
  const reasoning = encodeReasoning(prompt.reasoning, { facts: owned.facts ?? {}, isForeign, drop });
  // Left out, strict would mean true.
  const grammar = { wire: WIRE_NAME, nesting: "beside", customTools: true, unstrict: "false" } as const;
  const tools = encodeTools(prompt.tools, { ...grammar, model, isForeign, drop });
  // A choice among no tools is refused, and so is what is said of their calls.
  const hasLostTools = tools === undefined && isForeign;
  if (isForeign) dropped.push(...leftOut(prompt, { wire: WIRE_NAME, cacheMarks: "parts", names: false }));
  const members: MemberTexts = [
    ["model", jsonOf(model)],
    ["input", arrayText(encodeItems(prompt.messages, { model, isForeign }))],
    ["tools", tools],
    // The hold covers no more calls of tools that OpenAI runs.
    ["max_tool_calls", owned.toolOrders !== undefined ? String(CALLS_MAX_DEFAULT) : undefined],
    ["tool_choice", hasLostTools ? undefined : encodeToolChoice(prompt.toolChoice, "beside")],
    ["parallel_tool_calls", hasLostTools ? undefined : jsonOf(prompt.parallelToolCalls)],
    ["text", encodeText(prompt)],
    ["reasoning", reasoning],
    ["include", encodeInclude(prompt, isForeign && reasoning === undefined)],
    ["temperature", jsonOf(prompt.temperature)],
    ["top_p", jsonOf(prompt.topP)],
    ["top_logprobs", jsonOf(prompt.topLogprobs)],
    ["safety_identifier", encodeUser(prompt.user)],
    ["metadata", encodeMap(prompt.metadata)],
    ["service_tier", jsonOf(prompt.serviceTier)],
    ["prompt_cache_key", jsonOf(prompt.promptCacheKey)],
    ["max_output_tokens", jsonOf(owned.outputTokensMax)],
    ["stream", owned.stream ? "true" : undefined],
    // Nobody will ask for it again.
    ["store", "false"],
  ];
  const all = [...members, ...encodeExtra(prompt, WIRE_NAME, members, OWNED)];
  return Buffer.from(objectText(withCache(all, owned.cache)));
}

/** Fields that the wire has no place for. */
function checkPlaces(prompt: Prompt, { model, candidateCount }: OwnedFields, dropped: string[]): void {
  const refuse = (param: string, problem: string): never => {
    throw unsupported(param, problem, { model });
  };
  if (prompt.stop.length > 0) refuse("stop", "it cannot end at a string");
  if (candidateCount > 1) refuse("n", "only one answer is supported");
  const { topK, presencePenalty, frequencyPenalty, seed, logitBias } = prompt;
  const absent = { top_k: topK, presence_penalty: presencePenalty, frequency_penalty: frequencyPenalty, seed };
  for (const [param, value] of Object.entries(absent)) if (value !== undefined) dropped.push(param);
  if (Object.keys(logitBias).length > 0) dropped.push("logit_bias");
}

/** Members that the gateway owns and no one else may write. */
const OWNED = ["model", "input", "instructions", "max_output_tokens", "stream", "store", "background"];

function encodeText({ outputFormat, verbosity }: Prompt): string | undefined {
  const format = encodeOutputFormat(outputFormat, "beside");
  if (format === undefined && verbosity === undefined) return undefined;
  return objectText([
    ["format", format],
    ["verbosity", jsonOf(verbosity)],
  ]);
}

/** A caller of the typed form names the model's own effort; one of another wire, the effort that it means. */
function encodeReasoning(
  reasoning: Reasoning | undefined,
  { facts, isForeign, drop }: Pick<ToolGrammar, "isForeign" | "drop"> & { readonly facts: ModelFacts },
): string | undefined {
  if (reasoning === undefined) return undefined;
  const { include } = reasoning;
  const wanted = isForeign ? effortOf(reasoning) : reasoning.effort;
  const effort = isForeign && wanted !== undefined ? nearestEffort(wanted, effortsOf(facts)) : wanted;
  if (effort === undefined && wanted !== undefined) drop("thinking");
  // A model of which nobody knows that it thinks refuses to be told how.
  if (effort === undefined && (include !== true || isForeign)) return undefined;
  return objectText([
    ["effort", jsonOf(effort)],
    ["summary", include === true ? '"auto"' : undefined],
  ]);
}

/** Thoughts must come with what they are known by, since nobody keeps them. */
function encodeInclude({ logprobs, reasoning }: Prompt, isUnthinking: boolean): string | undefined {
  const include: string[] = [];
  if (reasoning !== undefined && reasoning.effort !== "none" && !isUnthinking)
    include.push("reasoning.encrypted_content");
  if (logprobs === true) include.push("message.output_text.logprobs");
  return include.length === 0 ? undefined : JSON.stringify(include);
}
