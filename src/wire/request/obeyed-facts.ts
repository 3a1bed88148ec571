/**
 * A prompt without what its model does not do: what is said of the model decides, on every wire and for every client.
 * Claude's wires, which have other ways for some of it, do so themselves.
 */
import { type Message, type OutputFormat, type Prompt, Role, type Tool, ToolChoice_Mode } from "../../api/index.js";
import { JsonCursor } from "../json/cursor.js";
import { readMembers, splice } from "../json/splice.js";
import type { ModelFacts } from "../wire.js";
import { nearestEffort } from "./efforts.js";
import { callHint, JSON_HINT } from "./hints.js";
import { instructionAsText, isInstruction, messageOf, textPart } from "./part.js";

/** What of a model's facts changes a prompt. */
export type LimitingFacts = Pick<ModelFacts, "sampling" | "forcedTools" | "schemas" | "systemTurns">;

/** What of them says how a model is told to think. */
export type ThinkingFacts = Pick<ModelFacts, "thinking" | "efforts" | "withoutThinking" | "budgets">;

const NO_MEMBERS: ReadonlySet<string> = new Set();
const PARAGRAPH = "\n\n";
/** Members of OpenAI's chat that ask for what a fact may deny. */
const SAMPLING: ReadonlySet<string> = new Set([
  "temperature",
  "top_p",
  "top_k",
  "presence_penalty",
  "frequency_penalty",
]);
const CHOICES: ReadonlySet<string> = new Set(["tool_choice", "function_call"]);

/** True where a prompt may have to change. */
export function areLimiting(facts: LimitingFacts): boolean {
  return limitsSampling(facts) || facts.forcedTools === false || facts.schemas === false || facts.systemTurns === false;
}

function limitsSampling({ sampling }: LimitingFacts): boolean {
  return sampling === "none" || sampling === "one";
}

/** True where a body of OpenAI's chat with these members may ask for what the facts deny. */
export function mayAskAgainst(facts: LimitingFacts, members: readonly { readonly key: string }[]): boolean {
  // Where instructions stand is seen in the messages alone.
  if (facts.systemTurns === false) return true;
  if (!areLimiting(facts)) return false;
  const { forcedTools, schemas } = facts;
  const picks = limitsSampling(facts);
  return members.some(
    ({ key }) =>
      (picks && SAMPLING.has(key)) ||
      (forcedTools === false && CHOICES.has(key)) ||
      (schemas === false && key === "response_format"),
  );
}

/** The prompt as the model takes it; the very same where it is so already. `drop` takes the names of what is lost. */
export function obeyFacts(prompt: Prompt, facts: LimitingFacts, drop: (param: string) => void): Prompt {
  if (!areLimiting(facts)) return prompt;
  const picked = facts.sampling === undefined ? prompt : withSampling(prompt, facts.sampling, drop);
  const hints: string[] = [];
  const chosen = facts.forcedTools === false ? withoutForce(picked, hints, drop) : picked;
  const told = facts.schemas === false ? withoutSchema(chosen, hints, drop) : chosen;
  const hinted = hints.length === 0 ? told : { ...told, messages: [systemOf(hints.join(PARAGRAPH)), ...told.messages] };
  return facts.systemTurns === false ? withLeadingSystem(hinted) : hinted;
}

/** True where somebody says how a model is told to think. */
export function steersThinking({ thinking, efforts, withoutThinking }: ThinkingFacts): boolean {
  return thinking !== undefined || efforts !== undefined || withoutThinking !== undefined;
}

/**
 * The prompt as the model can be told to think: not at all, or by the efforts that it knows. `members` are those
 * without a typed home that steer it, too.
 */
export function obeyThinking(
  prompt: Prompt,
  { thinking, efforts }: ThinkingFacts,
  drop: (param: string) => void,
  members: ReadonlySet<string> = NO_MEMBERS,
): Prompt {
  const { reasoning } = prompt;
  if (thinking !== "none" && thinking !== "always") {
    const { effort } = reasoning ?? {};
    // Whether it can be kept from thinking is another fact.
    const isFree = effort === undefined || effort === "none" || efforts === undefined;
    const nearest = isFree ? effort : nearestEffort(effort, efforts);
    if (reasoning === undefined || nearest === effort) return prompt;
    if (nearest === undefined) drop("reasoning_effort");
    return { ...prompt, reasoning: { ...reasoning, effort: nearest } };
  }
  const extra = withoutMembers(prompt.extra, members, drop);
  if (reasoning === undefined && extra === prompt.extra) return prompt;
  if (reasoning !== undefined) drop("reasoning_effort");
  return { ...prompt, reasoning: undefined, extra };
}

function withoutMembers(
  extra: Prompt["extra"],
  names: ReadonlySet<string>,
  drop: (param: string) => void,
): Prompt["extra"] {
  if (extra === undefined || names.size === 0) return extra;
  const bytes = Buffer.from(extra.json);
  const cursor = new JsonCursor(bytes);
  const open = cursor.at;
  const members = readMembers(cursor);
  const gone = members.filter(({ key }) => names.has(key));
  if (gone.length === 0) return extra;
  for (const { key } of gone) drop(key);
  return { ...extra, json: splice(bytes, open, members, new Map(gone.map(({ key }) => [key, undefined]))).toString() };
}

function withSampling(prompt: Prompt, sampling: "both" | "one" | "none", drop: (param: string) => void): Prompt {
  const { temperature, topP, topK, presencePenalty, frequencyPenalty } = prompt;
  const lost: Partial<Prompt> = {};
  const lose = (field: keyof Prompt, name: string, value: number | bigint | undefined): void => {
    if (value === undefined) return;
    drop(name);
    Object.assign(lost, { [field]: undefined });
  };
  if (sampling === "none") {
    lose("temperature", "temperature", temperature);
    lose("topK", "top_k", topK);
    lose("presencePenalty", "presence_penalty", presencePenalty);
    lose("frequencyPenalty", "frequency_penalty", frequencyPenalty);
  }
  if (sampling === "none" || (sampling === "one" && temperature !== undefined)) lose("topP", "top_p", topP);
  return Object.keys(lost).length === 0 ? prompt : { ...prompt, ...lost };
}

/** A call that cannot be forced is asked for in words, of the tools that may be called. */
function withoutForce(prompt: Prompt, hints: string[], drop: (param: string) => void): Prompt {
  const { toolChoice, tools } = prompt;
  if (toolChoice?.mode !== ToolChoice_Mode.MODE_REQUIRED || tools.length === 0) return prompt;
  drop("tool_choice");
  const [only, ...others] = toolChoice.names;
  hints.push(callHint(others.length === 0 ? only : undefined));
  const choice = { mode: ToolChoice_Mode.MODE_AUTO, names: [], custom: false };
  return { ...prompt, toolChoice: choice, tools: tools.filter((tool) => mayBeCalled(tool, toolChoice.names)) };
}

function mayBeCalled({ kind }: Tool, names: readonly string[]): boolean {
  return names.length === 0 || kind?.$case === "opaque" || names.includes(kind?.value.name ?? "");
}

/** An answer that no schema binds is asked for as a JSON object, with the schema in words. */
function withoutSchema(prompt: Prompt, hints: string[], drop: (param: string) => void): Prompt {
  const tools = prompt.tools.some(isStrict) ? prompt.tools.map(unstrict) : prompt.tools;
  const bound = prompt.outputFormat?.kind;
  if (bound?.$case !== "jsonSchema") return tools === prompt.tools ? prompt : { ...prompt, tools };
  const { schemaJson, description, strict } = bound.value;
  // What was asked for is a promise, and words are none.
  if (strict === true) drop("response_format.json_schema.strict");
  const about = description === undefined ? "" : ` It is: ${description}`;
  const schema = schemaJson === undefined ? "" : ` It must be valid against this JSON Schema:\n${schemaJson}`;
  hints.push(JSON_HINT + about + schema);
  const outputFormat: OutputFormat = { kind: { $case: "jsonObject", value: {} } };
  return { ...prompt, tools, outputFormat };
}

function isStrict({ kind }: Tool): boolean {
  return kind?.$case === "function" && kind.value.strict === true;
}

function unstrict(tool: Tool): Tool {
  const { kind } = tool;
  if (kind?.$case !== "function") return tool;
  return { ...tool, kind: { $case: "function", value: { ...kind.value, strict: undefined } } };
}

function systemOf(text: string): Message {
  return messageOf(Role.ROLE_SYSTEM, [textPart(text)]);
}

/** Instructions first and as one message; those that stand later keep their place as words of the user's. */
function withLeadingSystem(prompt: Prompt): Prompt {
  const { messages } = prompt;
  const first = messages.findIndex(({ role }) => !isInstruction(role));
  const leading = first === -1 ? messages.length : first;
  if (leading < 2 && !messages.slice(leading).some(({ role }) => isInstruction(role))) return prompt;
  const made: Message[] = [];
  // Undefined until an instruction waits for the user's next turn.
  let waiting: Message | undefined;
  for (const [place, message] of messages.entries()) {
    const last = made.at(-1);
    if (place < leading) {
      if (last === undefined) made.push({ ...message, parts: [...message.parts] });
      else last.parts.push(textPart(PARAGRAPH), ...message.parts);
    } else if (isInstruction(message.role)) {
      const parts = message.parts.map(asUsers);
      if (last?.role === Role.ROLE_USER) last.parts.push(...parts);
      else made.push((waiting = messageOf(Role.ROLE_USER, parts)));
    } else if (message.role === Role.ROLE_USER && waiting !== undefined && waiting === last) {
      made[made.length - 1] = { ...message, parts: [...waiting.parts, ...message.parts] };
      waiting = undefined;
    } else made.push({ ...message, parts: [...message.parts] });
  }
  return { ...prompt, messages: made };
}

function asUsers(part: Message["parts"][number]): Message["parts"][number] {
  const { kind } = part;
  if (kind?.$case !== "text") return part;
  return textPart(instructionAsText(kind.value.text), part.cacheMark);
}
