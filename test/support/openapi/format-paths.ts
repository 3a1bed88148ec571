/** The paths of the client formats: whose bodies they take is the business of whoever publishes the format. */
import { readdirSync } from "node:fs";
import { resolve } from "node:path";
import type { Format, FormatRoute } from "../../../src/formats/format.js";
import type { PathOperation } from "./management-paths.js";
import type { Schema } from "./message-schemas.js";

/** A format's request, as far as the gateway itself reads it, with an example that `sim-1` answers. */
interface DocumentedBody {
  readonly summary: string;
  readonly reference: string;
  readonly properties: Schema;
  readonly required: readonly string[];
  readonly example: Schema;
  /** What a whole answer has. */
  readonly answers: readonly string[] | "audio/*";
}

const OPENAI = "https://platform.openai.com/docs/api-reference";
const ANTHROPIC = "https://docs.anthropic.com/en/api";
const GEMINI = "https://ai.google.dev/api";
const MODEL = { type: "string", description: "One of `GET /v1/models`." };
const STREAM = { type: "boolean", description: "Stream the answer as server-sent events." };
const LIST = { type: "array", items: { type: "object" } };
const TEXTS = { type: ["string", "array"] };
const CONTENTS = [{ role: "user", parts: [{ text: "Say hello." }] }];
const SAID = [{ role: "user", content: "Say hello." }];
const VECTOR_MODEL = "models/sim-embed-1";

const RERANK_SERVER = "https://docs.vllm.ai/en/latest/serving/openai_compatible_server";

function rerankBody(summary: string, reference: string): DocumentedBody {
  return {
    summary,
    reference,
    properties: {
      model: MODEL,
      query: { type: "string" },
      documents: { type: "array" },
      top_n: { type: "integer" },
      return_documents: { type: "boolean" },
    },
    required: ["model", "query", "documents"],
    example: { model: "sim-rerank-1", query: "a fruit", documents: ["a stone", "a fruit"] },
    answers: ["model", "results", "meta"],
  };
}

/** By the last part of the route's path. */
const BODIES: Readonly<Record<string, DocumentedBody>> = {
  "/v1/chat/completions": {
    summary: "Chat completions (OpenAI)",
    reference: `${OPENAI}/chat`,
    properties: {
      model: MODEL,
      messages: LIST,
      stream: STREAM,
      max_completion_tokens: { type: "integer" },
      tools: LIST,
    },
    required: ["model", "messages"],
    example: { model: "sim-1", messages: SAID },
    answers: ["id", "object", "choices", "usage"],
  },
  "/v1/completions": {
    summary: "Legacy text completions (OpenAI)",
    reference: `${OPENAI}/completions`,
    properties: { model: MODEL, prompt: TEXTS, stream: STREAM, max_tokens: { type: "integer" } },
    required: ["model", "prompt"],
    example: { model: "sim-1", prompt: "Say hello.", max_tokens: 16 },
    answers: ["id", "object", "choices", "usage"],
  },
  "/v1/embeddings": {
    summary: "Embeddings (OpenAI)",
    reference: `${OPENAI}/embeddings`,
    properties: {
      model: MODEL,
      input: TEXTS,
      dimensions: { type: "integer" },
      encoding_format: { enum: ["float", "base64"] },
    },
    required: ["model", "input"],
    example: { model: "sim-embed-1", input: "A sentence." },
    answers: ["object", "data", "usage"],
  },
  "/v1/moderations": {
    summary: "Moderations (OpenAI)",
    reference: `${OPENAI}/moderations`,
    properties: { model: MODEL, input: TEXTS },
    required: ["input"],
    example: { model: "sim-moderation-1", input: "A sentence." },
    answers: ["id", "model", "results"],
  },
  "/v1/audio/speech": {
    summary: "Speech (OpenAI)",
    reference: `${OPENAI}/audio`,
    properties: {
      model: MODEL,
      input: { type: "string" },
      voice: { oneOf: [{ type: "string" }, { type: "object" }] },
      instructions: { type: "string" },
      response_format: { enum: ["mp3", "opus", "aac", "flac", "wav", "pcm"] },
      speed: { type: "number" },
      stream_format: { enum: ["audio", "sse"] },
    },
    required: ["model", "input", "voice"],
    example: { model: "sim-speech-1", input: "A sentence.", voice: "tone", response_format: "wav" },
    answers: "audio/*",
  },
  "/v1/rerank": rerankBody("Ranks documents (Jina, Voyage, vLLM)", "https://api.jina.ai/redoc"),
  "/v2/rerank": rerankBody("Ranks documents (Cohere)", "https://docs.cohere.com/reference/rerank"),
  "/rerank": rerankBody("Ranks documents (vLLM, llama.cpp)", RERANK_SERVER),
  "/v1/reranking": rerankBody("Ranks documents (llama.cpp)", RERANK_SERVER),
  "/reranking": rerankBody("Ranks documents (llama.cpp)", RERANK_SERVER),
  "/v1/responses": {
    summary: "Responses (OpenAI, Codex); also over a WebSocket",
    reference: `${OPENAI}/responses`,
    properties: { model: MODEL, input: TEXTS, stream: STREAM, max_output_tokens: { type: "integer" }, tools: LIST },
    required: ["model", "input"],
    example: { model: "sim-1", input: "Say hello." },
    answers: ["id", "object", "output", "usage"],
  },
  "/v1/responses/compact": {
    summary: "Compacts a conversation (Codex)",
    reference: `${OPENAI}/responses/compact`,
    properties: { model: MODEL, input: TEXTS },
    required: ["model", "input"],
    example: { model: "sim-1", input: SAID },
    answers: ["id", "object", "output", "usage"],
  },
  "/v1/responses/input_tokens": {
    summary: "Counts the input tokens of a response request (OpenAI)",
    reference: `${OPENAI}/responses/input-tokens`,
    properties: { model: MODEL, input: TEXTS },
    required: ["model", "input"],
    example: { model: "sim-1", input: "Say hello." },
    answers: ["object", "input_tokens"],
  },
  "/v1/messages": {
    summary: "Messages (Anthropic)",
    reference: `${ANTHROPIC}/messages`,
    properties: { model: MODEL, messages: LIST, stream: STREAM, max_tokens: { type: "integer" }, tools: LIST },
    required: ["model", "messages", "max_tokens"],
    example: { model: "sim-1", max_tokens: 64, messages: SAID },
    answers: ["id", "type", "role", "content", "usage"],
  },
  "/v1/messages/count_tokens": {
    summary: "Counts the tokens of messages (Anthropic)",
    reference: `${ANTHROPIC}/messages-count-tokens`,
    properties: { model: MODEL, messages: LIST },
    required: ["model", "messages"],
    example: { model: "sim-1", messages: SAID },
    answers: ["input_tokens"],
  },
  ":generateContent": {
    summary: "Generates content (Gemini)",
    reference: `${GEMINI}/generate-content`,
    properties: { contents: LIST, generationConfig: { type: "object" }, tools: LIST },
    required: ["contents"],
    example: { contents: CONTENTS },
    answers: ["candidates", "usageMetadata"],
  },
  ":streamGenerateContent": {
    summary: "Streams content (Gemini): as server-sent events with the query `alt=sse`, otherwise as one JSON array",
    reference: `${GEMINI}/generate-content`,
    properties: { contents: LIST, generationConfig: { type: "object" }, tools: LIST },
    required: ["contents"],
    example: { contents: CONTENTS },
    answers: [],
  },
  ":countTokens": {
    summary: "Counts tokens (Gemini)",
    reference: `${GEMINI}/tokens`,
    properties: { contents: LIST },
    required: [],
    example: { contents: CONTENTS },
    answers: ["totalTokens"],
  },
  ":embedContent": {
    summary: "Creates one embedding (Gemini)",
    reference: `${GEMINI}/embeddings`,
    properties: { content: { type: "object" } },
    required: ["content"],
    example: { content: { parts: [{ text: "A sentence." }] } },
    answers: ["embedding"],
  },
  ":batchEmbedContents": {
    summary: "Creates several embeddings (Gemini)",
    reference: `${GEMINI}/embeddings`,
    properties: { requests: LIST },
    required: ["requests"],
    example: { requests: [{ model: VECTOR_MODEL, content: { parts: [{ text: "A sentence." }] } }] },
    answers: ["embeddings"],
  },
};
const SCOPES = {
  generate: "chat",
  count: "chat",
  embed: "embeddings",
  rerank: "rerank",
  moderation: "moderations",
  speech: "audio",
} as const;

/** Every format that the program has: what the files of their folder export. */
export async function allFormats(): Promise<readonly Format[]> {
  const files = readdirSync("src/formats").filter((name) => name.endsWith(".ts"));
  const modules: readonly Readonly<Record<string, unknown>>[] = await Promise.all(
    files.map((name) => import(/* @vite-ignore */ resolve("src/formats", name))),
  );
  return modules.flatMap((module) => Object.values(module)).filter(isFormat);
}

function isFormat(value: unknown): value is Format {
  return typeof value === "object" && value !== null && "routes" in value && "wire" in value;
}

/** A route's path as OpenAPI writes it; a model with a maker before it is the same path to a reader. */
export function openApiPath(path: string): string {
  return path
    .replaceAll("::", "\u0000")
    .replaceAll(/:(\w+)(\(\[\^\]\+\))?/g, "{$1}")
    .replaceAll("\u0000", ":")
    .replace("{owner}/", "");
}

export async function formatPaths(): Promise<readonly PathOperation[]> {
  const routes = (await allFormats()).flatMap((format) => format.routes);
  const byPath = new Map(routes.map((route) => [openApiPath(route.path), route]));
  return [...byPath].map(([path, route]) => ({
    path,
    verb: route.method.toLowerCase(),
    operation: operationOf(path, route),
  }));
}

function contentOf({ answers }: DocumentedBody): Schema {
  if (answers === "audio/*") return { [answers]: { schema: { type: "string", format: "binary" } } };
  const schema = answers.length === 0 ? { type: "array" } : { type: "object", required: answers };
  return { "application/json": { schema } };
}

function operationOf(path: string, route: FormatRoute): Schema {
  const key = path.replace(/^.*\}/, "");
  const body = BODIES[key];
  if (body === undefined) throw new Error(`no words are known of the route ${path}: add them here`);
  const inPath = /\{(\w+)\}/.exec(path)?.[1];
  const content = contentOf(body);
  const events =
    "stream" in body.properties || "stream_format" in body.properties
      ? { "text/event-stream": { schema: { type: "string" } } }
      : {};
  return {
    operationId: path
      .replaceAll(/\{\w+\}/g, "")
      .replaceAll(/[^A-Za-z0-9]+(\w)/g, (_, letter: string) => letter.toUpperCase()),
    tags: ["Models"],
    summary: body.summary,
    description: "The body is that of the client format. Fields that are not listed here pass, or are refused by name.",
    externalDocs: { url: body.reference },
    ...(inPath === undefined
      ? {}
      : { parameters: [{ name: inPath, in: "path", required: true, schema: { type: "string" } }] }),
    requestBody: {
      required: true,
      content: {
        "application/json": {
          schema: { type: "object", properties: body.properties, required: body.required },
          example: body.example,
        },
      },
    },
    "x-tollgate-permission": SCOPES[route.kind],
    responses: {
      200: { description: "The answer.", content: { ...content, ...events } },
      default: { $ref: "#/components/responses/Refusal" },
    },
  };
}
