/**
 * Parameters that are dropped where a prompt is written in another wire than its own, by the names that its client gave
 * them. What one wire has no place for by itself its `encode-prompt.ts` drops, and a dialect of OpenAI's
 * `encode-lacking.ts`.
 */
import { type Prompt, Role } from "../../api/index.js";
import { unsupported } from "../error/refusals.js";
import { losesMarks, type MarkPlaces } from "./cache-marks.js";
import type { ModelFacts } from "../wire.js";
import { isDefault } from "./says-nothing.js";
import { objectOf, parsed, textOf } from "../json/value.js";

const TYPE_CHARACTERS_MAX = 64;
/** What the gateway obeys itself: it does what it is for without an upstream. */
const SESSION = "session_id";
const ROUTES: ReadonlySet<string> = new Set(["models", "provider"]);
/** The wires whose requests say by such members who may answer. */
const ROUTING_WIRES: ReadonlySet<string> = new Set(["openai-chat", "openai-responses"]);

/** What the wire that a prompt is written for has a place for. */
export interface Places {
  readonly wire: string;
  readonly cacheMarks: MarkPlaces;
  /** True where a message may name its speaker. */
  readonly names: boolean;
}

/**
 * The names of what is left out. Thoughts are none of it: that only their own upstream takes them back is the rule.
 * Media's finer settings are none either.
 */
export function leftOut(prompt: Prompt, places: Places): string[] {
  const names: string[] = [];
  const { extra } = prompt;
  if (extra !== undefined && extra.wire !== places.wire) {
    const isObeyed = (name: string): boolean => name === SESSION || (ROUTING_WIRES.has(extra.wire) && ROUTES.has(name));
    names.push(...membersOf(extra.json, "").filter((name) => !isObeyed(name)));
  }
  if (losesMarks(prompt, places.cacheMarks)) names.push("cache_control");
  prompt.messages.forEach(({ name, parts }, place) => {
    if (name !== undefined && !places.names) names.push(`messages[${place}].name`);
    parts.forEach(({ kind }, at) => {
      if (kind?.$case === "opaque" && kind.value.wire !== places.wire) names.push(`messages[${place}].content[${at}]`);
    });
  });
  return names;
}

/** What of the typed form a name of what was left out stands for, where it may ask for nothing. */
const ASKED: Readonly<Record<string, (prompt: Prompt) => unknown>> = {
  user: ({ user }) => user,
  top_p: ({ topP }) => topP,
  top_k: ({ topK }) => topK,
  presence_penalty: ({ presencePenalty }) => presencePenalty,
  frequency_penalty: ({ frequencyPenalty }) => frequencyPenalty,
  service_tier: ({ serviceTier }) => serviceTier,
};
/** Who wants no thoughts misses nothing, but of a model that thinks all the same. */
const OF_THINKING: ReadonlySet<string> = new Set(["thinking", "reasoning_effort"]);

/** False of a name by which the prompt asks for nothing. */
export function isMissed(name: string, prompt: () => Prompt, facts: ModelFacts): boolean {
  const asked = Object.hasOwn(ASKED, name) ? ASKED[name] : undefined;
  if (asked !== undefined) return !isDefault(name, asked(prompt()) ?? null);
  if (!OF_THINKING.has(name) || facts.thinking === "always" || facts.thinksUnasked === true) return true;
  const { effort, budgetTokens, include } = prompt().reasoning ?? {};
  return effort === undefined ? (budgetTokens ?? (include === true ? 1n : 0n)) !== 0n : effort !== "none";
}

/** The members by their paths; those that say nothing, such as `false`, are not missed. */
function membersOf(json: string, path: string): string[] {
  return Object.entries(objectOf(parsed(json)) ?? {}).flatMap(([key, value]) => {
    if (isDefault(key, value)) return [];
    // Gemini keeps half of its parameters in an object of their own.
    if (key === "generationConfig") return membersOf(JSON.stringify(value), `${key}.`);
    return [path + key];
  });
}

/** Where the parts of a message stand, by the wire that they came in. */
const PART_PLACES: Readonly<Record<string, readonly [messages: string, parts: string]>> = {
  gemini: ["contents", "parts"],
  "openai-responses": ["input", "content"],
};
const USUAL_PLACE = ["messages", "content"] as const;

/**
 * Throws PARAMETER_UNSUPPORTED for a part that somebody said to the model and that only its own wire understands: what
 * the answer is about must not vanish. What a model did itself may be left out.
 */
export function refuseUnsaid(prompt: Prompt, wire: string, model: string): void {
  // Some wires have the instructions apart from the conversation.
  const [first] = prompt.messages;
  prompt.messages.forEach(({ role, parts }, place) => {
    if (role === Role.ROLE_ASSISTANT) return;
    parts.forEach((part, at) => {
      const inner = part.kind?.$case === "toolResult" ? part.kind.value.parts : [part];
      for (const { kind } of inner) {
        if (kind?.$case !== "opaque" || kind.value.wire === wire) continue;
        const [messages, content] = PART_PLACES[kind.value.wire] ?? USUAL_PLACE;
        const hasApart = kind.value.wire !== "openai-chat" && first?.role === Role.ROLE_SYSTEM;
        const param = `${messages}[${hasApart ? place - 1 : place}].${content}[${at}]`;
        const type = textOf(objectOf(parsed(kind.value.json))?.["type"]).slice(0, TYPE_CHARACTERS_MAX);
        const problem = `it has no place for a part of the type '${type}'; send it as text, a picture or a file`;
        throw unsupported(param, problem, { model });
      }
    });
  });
}
