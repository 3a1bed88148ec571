/** From the typed prompt to a body for an upstream of this wire. */
import {
  type OutputFormat,
  type Prompt,
  type Reasoning,
  type Tool,
  type ToolChoice,
  ToolChoice_Mode,
} from "../../../api/index.js";
import { withAnsweredCalls } from "../../request/answered-calls.js";
import { FREE_TEXT_SCHEMA, freeTextDescription } from "../../request/free-text.js";
import { JsonCursor } from "../../json/cursor.js";
import { readMembers } from "../../json/splice.js";
import { arrayText, checkedJson, jsonOf, type MemberTexts, objectText } from "../../json/text.js";
import { leftOut } from "../../request/dropped-parameters.js";
import { leftOutName } from "../../request/hosted-tools.js";
import type { OwnedFields } from "../../wire.js";
import { encodeContents } from "./encode-messages.js";
import type { ModelRules } from "./encode-rules.js";
import type { PromptContext } from "./encode-parts.js";
import { WIRE_NAME } from "../facts.js";

const SEED_MAX = 2n ** 31n - 1n;
const SERVICE_TIERS: ReadonlySet<string> = new Set(["flex", "standard", "priority"]);

/** Throws PARAMETER_INVALID or PARAMETER_UNSUPPORTED for what the wire cannot say. */
export function encodePrompt(prompt: Prompt, owned: OwnedFields, context: PromptContext): Buffer {
  const { system, contents } = encodeContents(
    context.isForeign ? withAnsweredCalls(prompt.messages) : prompt.messages,
    context,
  );
  const tools = encodeTools(prompt.tools, context);
  const tier = prompt.serviceTier?.toLowerCase() ?? "";
  const config = encodeConfig(prompt, owned, context);
  const extra = extraOf(prompt);
  if (context.isForeign) dropOthers(prompt, context);
  const members: MemberTexts = [
    ["contents", contents],
    ["systemInstruction", system],
    ["tools", tools],
    ["toolConfig", tools === undefined ? undefined : encodeToolConfig(prompt.toolChoice, prompt.tools)],
    ["serviceTier", !context.isForeign || SERVICE_TIERS.has(tier) ? jsonOf(prompt.serviceTier) : undefined],
    ["generationConfig", configText(config, extra)],
  ];
  const taken = new Set([...members.map(([key]) => key), "model"]);
  for (const [key, json] of members) if (json === undefined && key !== "generationConfig") taken.delete(key);
  return Buffer.from(objectText([...members, ...[...extra].filter(([key]) => !taken.has(key))]));
}

/** What has no place on the wire and changes no meaning. */
function dropOthers(prompt: Prompt, { drop, rules }: PromptContext): void {
  const { seed, serviceTier, reasoning } = prompt;
  if (prompt.parallelToolCalls === false) drop("parallel_tool_calls");
  if (Object.keys(prompt.logitBias).length > 0) drop("logit_bias");
  if (prompt.user !== undefined) drop("user");
  if (Object.keys(prompt.metadata).length > 0) drop("metadata");
  if (prompt.verbosity !== undefined) drop("verbosity");
  if (prompt.promptCacheKey !== undefined) drop("prompt_cache_key");
  if (seed !== undefined && !fitsSeed(seed)) drop("seed");
  const tier = serviceTier?.toLowerCase() ?? "auto";
  if (tier !== "auto" && tier !== "default" && !SERVICE_TIERS.has(tier)) drop("service_tier");
  if (rules.thinking === "none" && reasoning?.effort !== undefined && reasoning.effort !== "none")
    drop("reasoning_effort");
  for (const name of leftOut(prompt, { wire: WIRE_NAME, cacheMarks: "nowhere", names: false })) drop(name);
}

function fitsSeed(seed: bigint): boolean {
  return seed >= -SEED_MAX - 1n && seed <= SEED_MAX;
}

/** The fields without a typed home, where they come from this wire. */
function extraOf(prompt: Prompt): ReadonlyMap<string, string> {
  return prompt.extra?.wire === WIRE_NAME ? membersOf(checkedJson(prompt.extra.json, "extra") ?? "{}") : new Map();
}

function membersOf(json: string): ReadonlyMap<string, string> {
  const bytes = Buffer.from(json);
  const members = readMembers(new JsonCursor(bytes));
  return new Map(members.map(({ key, valueStart, end }) => [key, bytes.toString("utf8", valueStart, end)]));
}

/** The configuration, with the fields that have no typed home. They may not write what has one, or what we own. */
function configText(config: MemberTexts, extra: ReadonlyMap<string, string>): string | undefined {
  const taken = new Set(["maxOutputTokens", "candidateCount"]);
  for (const [key, json] of config) if (json !== undefined) taken.add(key);
  const others = [...membersOf(extra.get("generationConfig") ?? "{}")].filter(([key]) => !taken.has(key));
  const text = objectText([...config, ...others]);
  return text === "{}" ? undefined : text;
}

function encodeConfig(prompt: Prompt, owned: OwnedFields, context: PromptContext): MemberTexts {
  const { seed } = prompt;
  const count = owned.candidateCount > 1 || prompt.candidateCount !== undefined ? owned.candidateCount : undefined;
  return [
    ["temperature", jsonOf(prompt.temperature)],
    ["topP", jsonOf(prompt.topP)],
    ["topK", jsonOf(prompt.topK)],
    ["candidateCount", jsonOf(count)],
    ["maxOutputTokens", jsonOf(owned.outputTokensMax)],
    ["stopSequences", prompt.stop.length === 0 ? undefined : JSON.stringify(prompt.stop)],
    ["seed", seed !== undefined && fitsSeed(seed) ? jsonOf(seed) : undefined],
    ["presencePenalty", jsonOf(prompt.presencePenalty)],
    ["frequencyPenalty", jsonOf(prompt.frequencyPenalty)],
    ["responseLogprobs", jsonOf(prompt.logprobs)],
    ["logprobs", jsonOf(prompt.topLogprobs)],
    ...encodeOutputFormat(prompt.outputFormat),
    ["thinkingConfig", encodeThinking(prompt.reasoning, context.rules)],
  ];
}

function encodeTools(tools: readonly Tool[], context: PromptContext): string | undefined {
  const declarations: string[] = [];
  const others: string[] = [];
  tools.forEach(({ kind }, place) => {
    const path = `tools[${place}]`;
    if (kind?.$case === "function") {
      const { name, description, parametersJson } = kind.value;
      declarations.push(
        objectText([
          ["name", jsonOf(name)],
          ["description", jsonOf(description)],
          ["parametersJsonSchema", checkedJson(parametersJson, `${path}.parameters`)],
        ]),
      );
    } else if (kind?.$case === "custom") {
      declarations.push(
        objectText([
          ["name", jsonOf(kind.value.name)],
          ["description", jsonOf(freeTextDescription(kind.value))],
          ["parametersJsonSchema", FREE_TEXT_SCHEMA],
        ]),
      );
    } else if (kind?.$case === "opaque" && kind.value.wire === WIRE_NAME)
      others.push(checkedJson(kind.value.json, path) ?? "{}");
    else if (kind?.$case === "opaque") context.drop(leftOutName(kind.value.json));
  });
  if (declarations.length > 0) others.unshift(`{"functionDeclarations":${arrayText(declarations)}}`);
  return others.length === 0 ? undefined : arrayText(others);
}

/** Strict tools have a mode of their own, and so have tools that the model may choose among. */
function encodeToolConfig(choice: ToolChoice | undefined, tools: readonly Tool[]): string | undefined {
  const mode = choice?.mode ?? ToolChoice_Mode.MODE_UNSPECIFIED;
  const names = choice?.names ?? [];
  const mayCall = mode === ToolChoice_Mode.MODE_AUTO || mode === ToolChoice_Mode.MODE_UNSPECIFIED;
  const isStrict = tools.some(({ kind }) => kind?.$case === "function" && kind.value.strict === true);
  let name: string | undefined;
  if (mode === ToolChoice_Mode.MODE_REQUIRED) name = "ANY";
  else if (mode === ToolChoice_Mode.MODE_NONE) name = "NONE";
  else if (mayCall && (isStrict || names.length > 0)) name = "VALIDATED";
  else if (mode === ToolChoice_Mode.MODE_AUTO) name = "AUTO";
  if (name === undefined) return undefined;
  const calling = objectText([
    ["mode", `"${name}"`],
    ["allowedFunctionNames", names.length === 0 || name === "NONE" ? undefined : JSON.stringify(names)],
  ]);
  return `{"functionCallingConfig":${calling}}`;
}

function encodeOutputFormat(format: OutputFormat | undefined): MemberTexts {
  switch (format?.kind?.$case) {
    case "text":
      return [["responseMimeType", '"text/plain"']];
    case "jsonObject":
      return [["responseMimeType", '"application/json"']];
    case "jsonSchema":
      return [
        ["responseMimeType", '"application/json"'],
        ["responseJsonSchema", checkedJson(format.kind.value.schemaJson, "output_format.schema")],
      ];
    default:
      return [];
  }
}

/** Efforts that have no level of their own, by the level that is nearest. */
const LEVELS: ReadonlyMap<string, string> = new Map([
  ["none", "MINIMAL"],
  ["xhigh", "HIGH"],
  ["max", "HIGH"],
]);

function encodeThinking(reasoning: Reasoning | undefined, rules: ModelRules): string | undefined {
  if (reasoning === undefined || rules.thinking === "none") return undefined;
  const { effort, budgetTokens } = reasoning;
  const include = reasoning.include ?? (effort === undefined || effort === "none" ? undefined : true);
  const isLevel = rules.thinking === "level" && effort !== undefined;
  const budget = budgetTokens ?? (effort === undefined ? undefined : budgetOf(effort, rules));
  return objectText([
    ["thinkingLevel", isLevel ? jsonOf(levelOf(effort, rules)) : undefined],
    ["thinkingBudget", isLevel ? undefined : jsonOf(budget)],
    ["includeThoughts", jsonOf(include)],
  ]);
}

function budgetOf(effort: string, { budgets }: ModelRules): number | undefined {
  return budgets[effort] ?? budgets["high"];
}

/** The level that is meant, or the nearest above it that the model knows; a word that is none is told as it is. */
function levelOf(effort: string, { levels }: ModelRules): string {
  const order = ["MINIMAL", "LOW", "MEDIUM", "HIGH"];
  const wanted = LEVELS.get(effort) ?? effort.toUpperCase();
  if (levels.includes(wanted) || !order.includes(wanted)) return wanted;
  const above = order.slice(order.indexOf(wanted)).find((level) => levels.includes(level));
  return above ?? levels.at(-1) ?? wanted;
}
