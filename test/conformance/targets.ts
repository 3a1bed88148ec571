/** The columns of the matrix: one strict upstream for each family, and what its models can and do. */
import { families } from "../../src/families/index.js";
import { AWS_ID, AWS_SECRET, AWS_TOKEN } from "../support/fake-bedrock.js";
import type { FakeGoogleToken } from "../support/fake-google-token.js";
import type { Client } from "./clients/client.js";
import { anthropicSpeaker } from "./upstreams/anthropic.js";
import { bedrockSpeaker } from "./upstreams/bedrock.js";
import { geminiSpeaker, VERTEX_PATH, vertexSpeaker } from "./upstreams/gemini.js";
import { mistralSpeaker } from "./upstreams/mistral.js";
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
  /**
   * How it tells a refusal: the model says it, in a place of its own or as any text, or it is explained beside the
   * answer, or no word comes.
   */
  readonly refuses: "spoken" | "plain" | "explained" | "silent";
  /** True where it tells that a stop string ended the answer. */
  readonly tellsStop: boolean;
  /** False where the usage does not tell how much was thought. */
  readonly countsThinking?: boolean;
  /** True where a turn of results is thought about only if the thoughts of its calls came back. */
  readonly needsThoughtsOfCalls?: boolean;
  /** What the settings give for its credential, where that is not the key of the others. */
  readonly apiKey?: (tokens: FakeGoogleToken) => string;
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

const CLAUDE_ON_BEDROCK = "us.anthropic.claude-sonnet-4-5-20250929-v1:0";

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
  {
    family: "openai-responses",
    speaker: responsesSpeaker,
    basePath: "/v1",
    models: { plain: "gpt-4.1", thinking: "gpt-5.1" },
    tellsThinking: true,
    takesThinking: true,
    signsCalls: false,
    refuses: "spoken",
    tellsStop: false,
  },
  {
    ...CHAT,
    family: "mistral",
    speaker: mistralSpeaker,
    models: { plain: "mistral-large-latest", thinking: "magistral-medium-latest" },
    refuses: "plain",
    countsThinking: false,
  },
  {
    family: "bedrock",
    speaker: bedrockSpeaker,
    basePath: "",
    models: { plain: CLAUDE_ON_BEDROCK, thinking: CLAUDE_ON_BEDROCK },
    tellsThinking: true,
    takesThinking: true,
    signsCalls: false,
    refuses: "silent",
    tellsStop: true,
    countsThinking: false,
    needsThoughtsOfCalls: true,
    apiKey: () => `${AWS_ID}:${AWS_SECRET}:${AWS_TOKEN}`,
  },
  {
    family: "vertex",
    speaker: vertexSpeaker,
    basePath: VERTEX_PATH,
    models: { plain: "gemini-3-flash", thinking: "gemini-3-flash" },
    tellsThinking: true,
    takesThinking: false,
    signsCalls: true,
    refuses: "silent",
    tellsStop: false,
    apiKey: ({ key }) => key,
  },
];

/** What servers that refuse all that they do not know know of their own. */
const OWN_MEMBERS: Readonly<Record<string, readonly string[]>> = { deepseek: ["user_id"], vllm: ["cache_salt"] };

/** Every other family on OpenAI's wire that there is, each with the member in which it tells its thoughts. */
export const followers: readonly Target[] = families
  .filter(({ name, wire, connect }) => wire.name === "openai-chat" && connect === undefined && !isAsked(name))
  .map(({ name, dialect }): Target => {
    const thinkingField = String(dialect["thinkingField"] ?? "reasoning_content");
    // DeepSeek refuses a turn of the assistant's that does not say what it thought, if only nothing.
    const needsThinking = name === "deepseek" ? "reasoning_content" : "";
    const ownMembers = OWN_MEMBERS[name] ?? [];
    const speaker = openAiSpeaker({ isOpenAi: false, thinkingField, needsThinking, ownMembers });
    return Object.assign({ family: name, speaker, models: { plain: "model-1", thinking: "model-1" } }, CHAT);
  });

function isAsked(name: string): boolean {
  return targets.some(({ family }) => family === name);
}
