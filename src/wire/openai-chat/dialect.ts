/** How upstreams of this wire differ from OpenAI itself, as data. */
import type { Dialect } from "../wire.js";

/** A family gives the differences alone: what it leaves out is as OpenAI has it. */
export type OpenAiChatDialect = {
  /** The member that carries the output limit where the client sent none. */
  readonly outputTokensField: "max_completion_tokens" | "max_tokens";
  /** True where a stream tells its usage when `stream_options.include_usage` asks for it. */
  readonly streamUsage: boolean;
  /** True where the role `developer` is known; else it is written as `system`. */
  readonly developerRole: boolean;
  /** The member of an assistant's message that takes earlier thinking back; empty where none does. */
  readonly thinkingField: "" | "reasoning_content" | "reasoning" | "reasoning_details";
  /** True where every assistant's message must carry that member, if only empty. */
  readonly thinkingRequired: boolean;
  /** True where parts may ask the upstream to cache the prompt up to them. */
  readonly cacheMarks: boolean;
  /** True where `top_k` is known. */
  readonly topK: boolean;
};

export const openAiChatDialect: OpenAiChatDialect = {
  outputTokensField: "max_completion_tokens",
  streamUsage: true,
  developerRole: true,
  thinkingField: "",
  thinkingRequired: false,
  cacheMarks: false,
  topK: false,
};

const THINKING_FIELDS = ["reasoning_content", "reasoning", "reasoning_details"] as const;

const resolved = new WeakMap<Dialect, OpenAiChatDialect>();

/** A family's differences, completed. Families are few and constant, so each is completed once. */
export function dialectOf(dialect: Dialect): OpenAiChatDialect {
  const known = resolved.get(dialect);
  if (known !== undefined) return known;
  const flag = (name: keyof OpenAiChatDialect, otherwise: boolean): boolean =>
    typeof dialect[name] === "boolean" ? dialect[name] : otherwise;
  const outputField = dialect["outputTokensField"];
  const thinkingField = dialect["thinkingField"];
  const made: OpenAiChatDialect = {
    outputTokensField: outputField === "max_tokens" ? outputField : openAiChatDialect.outputTokensField,
    streamUsage: flag("streamUsage", openAiChatDialect.streamUsage),
    developerRole: flag("developerRole", openAiChatDialect.developerRole),
    thinkingField: THINKING_FIELDS.find((known) => known === thinkingField) ?? "",
    thinkingRequired: flag("thinkingRequired", openAiChatDialect.thinkingRequired),
    cacheMarks: flag("cacheMarks", openAiChatDialect.cacheMarks),
    topK: flag("topK", openAiChatDialect.topK),
  };
  resolved.set(dialect, made);
  return made;
}
