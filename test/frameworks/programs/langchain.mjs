/** LangChain's chat models and embeddings, as its own pages use them. */
import { createAgent, tool } from "langchain";
import { z } from "zod";

const { GATEWAY_URL: url, GATEWAY_KEY: apiKey, MODEL: model, CLASS: name } = process.env;

async function chatModel() {
  switch (name) {
    case "ChatOpenAI":
    case "ChatOpenAI, responses": {
      const { ChatOpenAI } = await import("@langchain/openai");
      const useResponsesApi = name.endsWith("responses");
      return new ChatOpenAI({ model, apiKey, useResponsesApi, configuration: { baseURL: `${url}/v1` } });
    }
    case "ChatAnthropic": {
      const { ChatAnthropic } = await import("@langchain/anthropic");
      return new ChatAnthropic({ model, apiKey, anthropicApiUrl: url });
    }
    default: {
      const { ChatGoogleGenerativeAI } = await import("@langchain/google-genai");
      return new ChatGoogleGenerativeAI({ model, apiKey, baseUrl: url });
    }
  }
}

const chat = await chatModel();
let stream = "";
for await (const chunk of await chat.stream("Say hello.")) stream += chunk.text;

const weather = tool(() => "sunny-21", {
  name: "weather",
  description: "The weather of a city.",
  schema: z.object({ city: z.string() }),
});
const { messages } = await createAgent({ model: chat, tools: [weather] }).invoke({
  messages: [{ role: "user", content: "How is the weather in Oslo?" }],
});
const structured = await chat
  .withStructuredOutput(z.object({ city: z.string(), degrees: z.number() }))
  .invoke("How is the weather in Oslo?");

async function embeddingsOf() {
  const vectors = process.env.VECTORS;
  if (name === "ChatGoogleGenerativeAI") {
    const { GoogleGenerativeAIEmbeddings } = await import("@langchain/google-genai");
    return new GoogleGenerativeAIEmbeddings({ model: vectors, apiKey, baseUrl: url });
  }
  const { OpenAIEmbeddings } = await import("@langchain/openai");
  return new OpenAIEmbeddings({ model: vectors, apiKey, configuration: { baseURL: `${url}/v1` } });
}
const embeddings = await embeddingsOf();
const vectors = (await embeddings.embedDocuments(["one", "two"])).length;
console.log(JSON.stringify({ stream, tools: messages.at(-1).text, structured, vectors }));
