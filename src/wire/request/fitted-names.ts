/** Names of tools that a wire does not take as they are: made to fit, always in the same way, and told back. */
import { createHash } from "node:crypto";
import type { Message, Prompt, Tool } from "../../api/index.js";

/** Names that a wire takes. */
export interface NameRule {
  readonly legal: RegExp;
  readonly charactersMax: number;
}

/** What OpenAI, Anthropic and Bedrock take: letters, digits, `_` and `-`. */
export const PLAIN_NAMES: NameRule = { legal: /^[A-Za-z0-9_-]{1,64}$/, charactersMax: 64 };

const HASH_CHARACTERS = 12;
export const NO_NAMES: ReadonlyMap<string, string> = new Map();

/** The name as the wire takes it. Two that differ stay two. */
function fittedName(name: string, { legal, charactersMax }: NameRule): string {
  if (legal.test(name)) return name;
  const start = /^[A-Za-z_]/.test(name) ? "" : "_";
  const plain = (start + name.replaceAll(/[^A-Za-z0-9_-]/g, "_")).slice(0, charactersMax - HASH_CHARACTERS - 1);
  return `${plain}_${createHash("sha256").update(name).digest("hex").slice(0, HASH_CHARACTERS)}`;
}

/** The names of a prompt's tools that had to be changed, by what became of them. */
export function changedNames(prompt: Prompt, rule: NameRule): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const { kind } of prompt.tools)
    if (kind?.$case === "function" || kind?.$case === "custom") {
      const { name } = kind.value;
      const fitted = fittedName(name, rule);
      if (fitted !== name) names.set(fitted, name);
    }
  return names.size === 0 ? NO_NAMES : names;
}

/** The prompt with names that fit: of its tools, in the choice among them and in its calls. */
export function withFittedNames(prompt: Prompt, rule: NameRule): Prompt {
  const { toolChoice } = prompt;
  const names = toolChoice?.names.map((name) => fittedName(name, rule)) ?? [];
  return {
    ...prompt,
    messages: prompt.messages.map((message) => fittedMessage(message, rule)),
    tools: prompt.tools.map((tool) => fittedTool(tool, rule)),
    toolChoice: toolChoice && { ...toolChoice, names },
  };
}

function fittedTool(tool: Tool, rule: NameRule): Tool {
  const { kind } = tool;
  if (kind?.$case !== "function" && kind?.$case !== "custom") return tool;
  const name = fittedName(kind.value.name, rule);
  if (name === kind.value.name) return tool;
  if (kind.$case === "function") return { ...tool, kind: { $case: "function", value: { ...kind.value, name } } };
  return { ...tool, kind: { $case: "custom", value: { ...kind.value, name } } };
}

function fittedMessage(message: Message, rule: NameRule): Message {
  const isFine = message.parts.every(({ kind }) => kind?.$case !== "toolCall" || rule.legal.test(kind.value.name));
  if (isFine) return message;
  const parts = message.parts.map((part) => {
    if (part.kind?.$case !== "toolCall") return part;
    const { value } = part.kind;
    const kind = { $case: "toolCall" as const, value: { ...value, name: fittedName(value.name, rule) } };
    return { kind, cacheMark: part.cacheMark };
  });
  return { role: message.role, parts, name: message.name, extraJson: message.extraJson };
}
