/** LlamaIndex, as its own pages use it. */
import { OpenAI, OpenAIEmbedding } from "@llamaindex/openai";
import { agent } from "@llamaindex/workflow";
import { tool } from "llamaindex";
import { z } from "zod";

const { GATEWAY_URL: url, GATEWAY_KEY: apiKey, MODEL: model, VECTORS } = process.env;
const llm = new OpenAI({ model, apiKey, baseURL: `${url}/v1`, supportToolCall: true });
const content = "How is the weather in Oslo?";

let stream = "";
for await (const { delta } of await llm.chat({ messages: [{ role: "user", content: "Say hello." }], stream: true }))
  stream += delta;

const weather = tool({
  name: "weather",
  description: "The weather of a city.",
  parameters: z.object({ city: z.string() }),
  execute: () => "sunny-21",
});
const { data } = await agent({ llm, tools: [weather] }).run(content);
const { message } = await llm.chat({
  messages: [{ role: "user", content }],
  responseFormat: z.object({ city: z.string(), degrees: z.number() }),
});
const embedder = new OpenAIEmbedding({ model: VECTORS, apiKey, baseURL: `${url}/v1` });
const vectors = (await embedder.getTextEmbeddingsBatch(["one", "two"])).length;
const tools = typeof data.result === "string" ? data.result : data.message.content;
console.log(JSON.stringify({ stream, tools, structured: JSON.parse(message.content), vectors }));
