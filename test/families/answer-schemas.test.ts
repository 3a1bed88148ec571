/** A schema of the answer goes to models that can be bound to one at their host, and is told in words to the others. */
import { expect, test } from "vitest";
import { families } from "../../src/families/index.js";
import { wire as anthropic } from "../../src/wire/anthropic/index.js";
import { wire as gemini } from "../../src/wire/gemini/index.js";
import { wire as chat } from "../../src/wire/openai-chat/index.js";
import { wire as responses } from "../../src/wire/openai-responses/index.js";

const schema = { type: "object", properties: { shade: { type: "string" } }, required: ["shade"] };
const messages = [{ role: "user", content: "q" }];
const named = { name: "answer", schema };

const CLIENTS = [
  {
    wire: chat,
    body: { model: "m", messages, response_format: { type: "json_schema", json_schema: { ...named, strict: true } } },
  },
  { wire: responses, body: { model: "m", input: "q", text: { format: { type: "json_schema", ...named } } } },
  {
    wire: anthropic,
    body: { model: "m", max_tokens: 9, messages, output_config: { format: { type: "json_schema", schema } } },
  },
  {
    wire: gemini,
    body: {
      contents: [{ role: "user", parts: [{ text: "q" }] }],
      generationConfig: { responseMimeType: "application/json", responseJsonSchema: schema },
    },
  },
];

const CASES = [
  { family: "groq", model: "openai/gpt-oss-120b", takes: true },
  { family: "groq", model: "moonshotai/kimi-k2-instruct-0905", takes: true },
  { family: "groq", model: "meta-llama/llama-4-scout-17b-16e-instruct", takes: true },
  { family: "groq", model: "llama-3.3-70b-versatile", takes: false },
  { family: "groq", model: "qwen/qwen3-32b", takes: false },
  { family: "qwen", model: "qwen-plus", takes: true },
  { family: "qwen", model: "qwen3-max", takes: true },
  { family: "qwen", model: "qwen-turbo", takes: false },
  { family: "qwen", model: "qwen3-coder-plus", takes: false },
  { family: "moonshot", model: "kimi-k2.6", takes: true },
  { family: "deepseek", model: "deepseek-chat", takes: false },
  { family: "openai", model: "gpt-5.1", takes: true },
  { family: "openrouter", model: "meta-llama/llama-3.3-70b-instruct", takes: true },
];

const PAIRS = CLIENTS.flatMap((client) => CASES.map((one) => Object.assign({ client, from: client.wire.name }, one)));

test.each(PAIRS)("$family binds $model to a schema: $takes, asked by $from", ({ family, model, takes, client }) => {
  const found = families.find(({ name }) => name === family)!;
  const headers = client.wire === gemini ? { "x-tollgate-path-model": "m" } : {};
  const source = { wire: client.wire.name, body: Buffer.from(JSON.stringify(client.body)), headers };
  const owned = { model, outputTokensMax: 9, stream: false, candidateCount: 1 };
  const sent = found.wire.encodeRequest(client.wire.readRequest(source), owned, found.dialect).toString();
  const { response_format } = JSON.parse(sent) as { readonly response_format: { readonly type: string } };
  expect(response_format.type).toBe(takes ? "json_schema" : "json_object");
  expect(sent).toContain("shade");
  if (!takes) expect(sent).toContain("JSON Schema");
});
