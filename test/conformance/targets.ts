/** The columns of the matrix: one strict upstream for each family, and what its models can and do. */
import { families } from "../../src/families/index.js";
import type { Client } from "./clients/client.js";
import { anthropicSpeaker } from "./upstreams/anthropic.js";
import { geminiSpeaker } from "./upstreams/gemini.js";
import { responsesSpeaker } from "./upstreams/openai-responses.js";
import { openAiSpeaker } from "./upstreams/openai-chat.js";
import type { Speaker } from "./upstreams/scripted-upstream.js";

export interface Target {
  /** The family, as the settings name it. */
  readonly family: string;
  readonly speaker: Speaker;
  /** What follows the upstream's origin in `base_url`. */
  readonly basePath: string;
  /** Its models, as the upstream names them: one that is asked plainly, and one that thinks. */
  readonly models: { readonly plain: string; readonly thinking: string };
  /** True where it tells what it thinks. */
  readonly tellsThinking: boolean;
  /** True where it wants its thoughts back, each with its proof. */
  readonly takesThinking: boolean;
  /** True where a replayed call must bring the signature that it came with. */
  readonly signsCalls: boolean;
  /** How it tells a refusal: the model says it, or it is explained beside the answer, or no word comes. */
  readonly refuses: "spoken" | "explained" | "silent";
  /** True where it tells that a stop string ended the answer. */
  readonly tellsStop: boolean;
  /** What is otherwise for a client whose own wire the family speaks too. */
  readonly inTurn?: { readonly format: Client["format"] } & Partial<Target>;
}

/** What every family that only follows OpenAI's wire is asked, by the first client of each format. */
export const FEATURES_OF_FOLLOWERS = ["text", "one tool", "parallel tools", "tool result", "tool loop of 3 turns"];

/** The target as a client meets it. */
export function targetFor(target: Target, client: Client): Target {
  return target.inTurn?.format === client.format ? { ...target, ...target.inTurn } : target;
}

const CHAT: Omit<Target, "family" | "speaker" | "models"> = {
  basePath: "/v1",
  tellsThinking: true,
  takesThinking: false,
  signsCalls: false,
  refuses: "spoken",
  tellsStop: false,
};

export const targets: readonly Target[] = [
  {
    ...CHAT,
    family: "openai",
    speaker: openAiSpeaker({ isOpenAi: true, thinkingField: "" }),
    models: { plain: "gpt-4.1", thinking: "gpt-5.1" },
    tellsThinking: false,
    inTurn: { format: "responses", speaker: responsesSpeaker, tellsThinking: true, takesThinking: true },
  },
  {
    family: "anthropic",
    speaker: anthropicSpeaker,
    basePath: "",
    models: { plain: "claude-opus-5", thinking: "claude-opus-5" },
    tellsThinking: true,
    takesThinking: true,
    signsCalls: false,
    refuses: "explained",
    tellsStop: true,
  },
  {
    family: "gemini",
    speaker: geminiSpeaker,
    basePath: "",
    models: { plain: "gemini-3-flash", thinking: "gemini-3-flash" },
    tellsThinking: true,
    takesThinking: false,
    signsCalls: true,
    refuses: "silent",
    tellsStop: false,
  },
  {
    ...CHAT,
    family: "openai-compatible",
    speaker: openAiSpeaker({ isOpenAi: false, thinkingField: "reasoning_content" }),
    models: { plain: "local-1", thinking: "gpt-oss-120b" },
  },
];

/** Every other family on OpenAI's wire that there is, each with the member in which it tells its thoughts. */
export const followers: readonly Target[] = families
  .filter(({ name, wire, connect }) => wire.name === "openai-chat" && connect === undefined && !isAsked(name))
  .map(({ name, dialect }): Target => {
    const thinkingField = String(dialect["thinkingField"] ?? "reasoning_content");
    // DeepSeek refuses a turn of the assistant's that does not say what it thought, if only nothing.
    const needsThinking = name === "deepseek" ? "reasoning_content" : "";
    const speaker = openAiSpeaker({
      isOpenAi: false,
      thinkingField,
      needsThinking,
      tellsUsageUnasked: name === "mistral",
    });
    return Object.assign({ family: name, speaker, models: { plain: "model-1", thinking: "model-1" } }, CHAT);
  });

function isAsked(name: string): boolean {
  return targets.some(({ family }) => family === name);
}
