/** The AI SDK on its default settings, as its own pages use it. */
import { embedMany, generateText, isStepCount, Output, streamText, tool } from "ai";
import { z } from "zod";

const { GATEWAY_URL: url, GATEWAY_KEY: apiKey, MODEL: model, CLASS: name, VECTORS } = process.env;

async function modelsOf() {
  switch (name) {
    case "@ai-sdk/openai":
      return (await import("@ai-sdk/openai")).createOpenAI({ apiKey, baseURL: `${url}/v1` });
    case "@ai-sdk/anthropic":
      return (await import("@ai-sdk/anthropic")).createAnthropic({ apiKey, baseURL: `${url}/v1` });
    case "@ai-sdk/google":
      return (await import("@ai-sdk/google")).createGoogle({ apiKey, baseURL: `${url}/v1beta` });
    case "@ai-sdk/mistral":
      return (await import("@ai-sdk/mistral")).createMistral({ apiKey, baseURL: `${url}/v1` });
    case "@ai-sdk/xai":
      return (await import("@ai-sdk/xai")).createXai({ apiKey, baseURL: `${url}/v1` });
    case "@ai-sdk/deepseek":
      return (await import("@ai-sdk/deepseek")).createDeepSeek({ apiKey, baseURL: `${url}/v1` });
    case "@openrouter/ai-sdk-provider":
      return (await import("@openrouter/ai-sdk-provider")).createOpenRouter({ apiKey, baseURL: `${url}/v1` });
    default:
      return (await import("@ai-sdk/openai-compatible")).createOpenAICompatible({
        name: "tollgate",
        apiKey,
        baseURL: `${url}/v1`,
        supportsStructuredOutputs: true,
      });
  }
}

const models = await modelsOf();
let stream = "";
for await (const text of streamText({ model: models(model), prompt: "Say hello." }).textStream) stream += text;

const weather = tool({
  description: "The weather of a city.",
  inputSchema: z.object({ city: z.string() }),
  execute: () => "sunny-21",
});
const { text: tools } = await generateText({
  model: models(model),
  tools: { weather },
  stopWhen: isStepCount(5),
  prompt: "How is the weather in Oslo?",
});
const { output: structured } = await generateText({
  model: models(model),
  output: Output.object({ schema: z.object({ city: z.string(), degrees: z.number() }) }),
  prompt: "How is the weather in Oslo?",
});
const told = { stream, tools, structured };
if (process.env.DOES.includes("vectors")) {
  // OpenRouter's keeps the name of before.
  const embedder = (models.embeddingModel ?? models.textEmbeddingModel)(VECTORS);
  const made = await embedMany({ model: embedder, values: ["one", "two"] });
  told.vectors = made.embeddings.length;
}
console.log(JSON.stringify(told));
