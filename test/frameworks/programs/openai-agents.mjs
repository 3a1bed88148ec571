/** OpenAI's agents, as their own pages use them. */
import { Agent, run, setTracingDisabled, tool } from "@openai/agents";
import { z } from "zod";

const { MODEL: model } = process.env;
setTracingDisabled(true);
const prompt = "How is the weather in Oslo?";

const greeter = new Agent({ name: "Greeter", instructions: "Be short.", model });
const streamed = await run(greeter, "Say hello.", { stream: true });
let stream = "";
for await (const text of streamed.toTextStream({ compatibleWithNodeStreams: false })) stream += text;
await streamed.completed;

const weather = tool({
  name: "weather",
  description: "The weather of a city.",
  parameters: z.object({ city: z.string() }),
  execute: () => "sunny-21",
});
const tools = (await run(new Agent({ name: "Weather", model, tools: [weather] }), prompt)).finalOutput;
const outputType = z.object({ city: z.string(), degrees: z.number() });
const structured = (await run(new Agent({ name: "Reporter", model, outputType }), prompt)).finalOutput;
console.log(JSON.stringify({ stream, tools, structured }));
