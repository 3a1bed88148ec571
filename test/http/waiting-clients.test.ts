/** What keeps a waiting stream alive, the official clients of its wire do not take for an answer. */
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import OpenAI from "openai";
import { afterEach, expect, test } from "vitest";
import { type Event, UsageSource } from "../../src/api/index.js";
import { anthropic } from "../../src/formats/anthropic.js";
import { gemini } from "../../src/formats/gemini.js";
import { openaiCompletions } from "../../src/formats/openai-completions.js";
import { openaiResponses } from "../../src/formats/openai-responses.js";
import { openai } from "../../src/formats/openai.js";
import { startServer, type TestServer } from "../support/http-server.js";
import { allowTimeToFail } from "../support/pauses.js";

let server: TestServer;
afterEach(() => server.close());

const FINISH: Event = {
  kind: { $case: "finish", value: { usage: undefined, usageSource: UsageSource.USAGE_SOURCE_NONE, costNanos: 0n } },
};
const event = (name: string, value: object): string =>
  `event: ${name}\ndata: ${JSON.stringify({ type: name, ...value })}\n\n`;
const data = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;

const MESSAGE = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "m",
  content: [],
  stop_reason: null,
  stop_sequence: null,
};
const MESSAGES =
  event("message_start", { message: { ...MESSAGE, usage: { input_tokens: 1, output_tokens: 1 } } }) +
  event("content_block_start", { index: 0, content_block: { type: "text", text: "" } }) +
  event("content_block_delta", { index: 0, delta: { type: "text_delta", text: "Hello" } }) +
  event("content_block_stop", { index: 0 }) +
  event("message_delta", { delta: { stop_reason: "end_turn", stop_sequence: null }, usage: { output_tokens: 1 } }) +
  event("message_stop", {});
const CHUNK = { id: "c", object: "chat.completion.chunk", created: 1, model: "m" };
const CHAT =
  data({ ...CHUNK, choices: [{ index: 0, delta: { role: "assistant", content: "Hello" }, finish_reason: null }] }) +
  data({ ...CHUNK, choices: [{ index: 0, delta: {}, finish_reason: "stop" }] });
const TEXT = data({
  id: "c",
  object: "text_completion",
  created: 1,
  model: "m",
  choices: [{ index: 0, text: "Hello", finish_reason: "stop", logprobs: null }],
});
const RESPONSE = { id: "resp_1", object: "response", created_at: 1, model: "m", status: "in_progress", output: [] };
const RESPONSES =
  event("response.created", { sequence_number: 0, response: RESPONSE }) +
  event("response.output_text.delta", {
    sequence_number: 1,
    item_id: "i",
    output_index: 0,
    content_index: 0,
    delta: "Hello",
    logprobs: [],
  }) +
  event("response.completed", { sequence_number: 2, response: { ...RESPONSE, status: "completed" } });
const GEMINI = data({
  candidates: [{ index: 0, content: { role: "model", parts: [{ text: "Hello" }] }, finishReason: "STOP" }],
});

const said = { role: "user", content: "Hi" } as const;

/** Google's SDKs of other languages know no comments: what an event is made of, each as it is split there. */
const GOOGLE_READERS = [
  { name: "google, as its SDK of Python reads", between: "\n", data: /^data: (.*)$/ },
  { name: "google, as its SDK of Go reads", between: "\n\n", data: /^data:(.*)$/ },
].map(({ name, between, data }) => ({
  name,
  source: GEMINI,
  async call(url: string) {
    const response = await fetch(`${url}/v1beta/models/m:streamGenerateContent?alt=sse`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-goog-api-key": "sk-good" },
      body: JSON.stringify({ contents: [{ role: "user", parts: [{ text: "Hi" }] }] }),
    });
    const pieces = (await response.text()).split(between).filter((piece) => piece !== "");
    const answers = pieces.map((piece) => data.exec(piece)?.[1] ?? `no data: ${piece}`);
    return answers.map((answer) => JSON.parse(answer).candidates[0].content.parts[0].text).join("");
  },
}));

/** Each client's call, and what it makes of all events. */
const CLIENTS: readonly { readonly name: string; readonly source: string; call(url: string): Promise<string> }[] = [
  {
    name: "openai, chat",
    source: CHAT,
    async call(url) {
      const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: "sk-good", maxRetries: 0 });
      let text = "";
      for await (const chunk of await client.chat.completions.create({ model: "m", messages: [said], stream: true }))
        text += chunk.choices[0]?.delta.content ?? "";
      return text;
    },
  },
  {
    name: "openai, completions",
    source: TEXT,
    async call(url) {
      const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: "sk-good", maxRetries: 0 });
      let text = "";
      for await (const chunk of await client.completions.create({ model: "m", prompt: "Hi", stream: true }))
        text += chunk.choices[0]?.text ?? "";
      return text;
    },
  },
  {
    name: "openai, responses",
    source: RESPONSES,
    async call(url) {
      const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: "sk-good", maxRetries: 0 });
      let text = "";
      for await (const one of await client.responses.create({ model: "m", input: "Hi", stream: true }))
        text += one.type === "response.output_text.delta" ? one.delta : "";
      return text;
    },
  },
  {
    name: "anthropic",
    source: MESSAGES,
    async call(url) {
      const client = new Anthropic({ baseURL: url, apiKey: "sk-good", maxRetries: 0 });
      return client.messages.stream({ model: "m", max_tokens: 10, messages: [said] }).finalText();
    },
  },
  {
    name: "google",
    source: GEMINI,
    async call(url) {
      const { models } = new GoogleGenAI({ apiKey: "sk-good", httpOptions: { baseUrl: url, apiVersion: "v1beta" } });
      let text = "";
      for await (const chunk of await models.generateContentStream({ model: "m", contents: "Hi" }))
        text += chunk.text ?? "";
      return text;
    },
  },
  ...GOOGLE_READERS,
];

test.each(CLIENTS)("$name", async ({ source, call }) => {
  const formats = [openai, openaiResponses, openaiCompletions, anthropic, gemini];
  server = await startServer({ heartbeatMs: 10, formats });
  server.channel.streamScript = async (_request, sink) => {
    sink.head({ "tollgate-form": "stream", "x-request-id": "req_1" });
    sink.data({});
    await allowTimeToFail(60);
    const middle = source.indexOf("\n\n") + 2;
    sink.data({ source: Buffer.from(source.slice(0, middle)) });
    await allowTimeToFail(60);
    sink.data({ source: Buffer.from(source.slice(middle)), events: [FINISH] });
  };
  expect(await call(server.url)).toBe("Hello");
});
