/** What models are asked for: the one table of the kinds. */

/** By kind: the scope that a key needs, the operation as OpenTelemetry names it, and the words of a refusal. */
export const MODEL_KINDS = {
  chat: { scope: "chat", operation: "chat", words: "chats" },
  completion: { scope: "chat", operation: "text_completion", words: "completions of a text" },
  embedding: { scope: "embeddings", operation: "embeddings", words: "embeddings" },
  rerank: { scope: "rerank", operation: "rerank", words: "the ranking of documents" },
  moderation: { scope: "moderations", operation: "moderation", words: "moderation" },
  speech: { scope: "audio", operation: "speech", words: "speech" },
} as const;

/** What a model is asked for. */
export type ModelKind = keyof typeof MODEL_KINDS;

/** The kinds in the order of the table. */
export const MODEL_KIND_NAMES = Object.keys(MODEL_KINDS) as readonly ModelKind[];
