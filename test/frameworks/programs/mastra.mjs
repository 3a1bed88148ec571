/** An agent of Mastra, with the model by its name and an address. */
import { Agent } from "@mastra/core/agent";
import { createTool } from "@mastra/core/tools";
import { z } from "zod";

const { GATEWAY_URL: url, GATEWAY_KEY: apiKey, MODEL } = process.env;
const model = { id: `openai/${MODEL}`, url: `${url}/v1`, apiKey };
const weather = createTool({
  id: "weather",
  description: "The weather of a city.",
  inputSchema: z.object({ city: z.string() }),
  execute: () => Promise.resolve("sunny-21"),
});
const greeter = new Agent({ id: "greeter", name: "Greeter", instructions: "Be short.", model });
const reporter = new Agent({ id: "reporter", name: "Reporter", instructions: "Be short.", model, tools: { weather } });
const question = "How is the weather in Oslo?";

async function streamOf(agent, prompt) {
  let told = "";
  for await (const text of (await agent.stream(prompt)).textStream) told += text;
  return told;
}

const { text: whole } = await greeter.generate("Say hello.");
const stream = await streamOf(greeter, "Say hello.");
const { text: tools } = await reporter.generate(question);
const streamedTools = await streamOf(reporter, question);
const schema = z.object({ city: z.string(), degrees: z.number() });
const { object: structured } = await greeter.generate(question, { structuredOutput: { schema } });
console.log(JSON.stringify({ whole, stream, tools, streamedTools, structured }));
