/** Genkit over its OpenAI and Google plugins, as its own pages use them. */
import { genkit, z } from "genkit";

const { GATEWAY_URL: url, GATEWAY_KEY: apiKey, MODEL, CLASS: name, VECTORS } = process.env;
const isGoogle = name === "@genkit-ai/google-genai";

async function pluginOf() {
  if (isGoogle) return (await import("@genkit-ai/google-genai")).googleAI({ apiKey, baseUrl: url });
  const { openAI } = await import("@genkit-ai/compat-oai/openai");
  return openAI({ apiKey, baseURL: `${url}/v1` });
}

const ai = genkit({ plugins: [await pluginOf()] });
const model = `${isGoogle ? "googleai" : "openai"}/${MODEL}`;
const weather = ai.defineTool(
  {
    name: "weather",
    description: "The weather of a city.",
    inputSchema: z.object({ city: z.string() }),
    outputSchema: z.string(),
  },
  () => Promise.resolve("sunny-21"),
);
const prompt = "How is the weather in Oslo?";

const streamed = ai.generateStream({ model, prompt: "Say hello." });
let stream = "";
for await (const chunk of streamed.stream) stream += chunk.text;
const { text: tools } = await ai.generate({ model, prompt, tools: [weather] });
const { output: structured } = await ai.generate({
  model,
  prompt,
  output: { schema: z.object({ city: z.string(), degrees: z.number() }) },
});
const embedder = `${isGoogle ? "googleai" : "openai"}/${VECTORS}`;
const made = await Promise.all(["one", "two"].map((content) => ai.embed({ embedder, content })));
const vectors = made.flat().filter(({ embedding }) => embedding.length > 0).length;
console.log(JSON.stringify({ stream, tools, structured, vectors }));
