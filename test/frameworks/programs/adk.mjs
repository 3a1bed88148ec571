/** An agent of Google's development kit, whole and streamed. */
import { FunctionTool, Gemini, InMemoryRunner, LlmAgent, StreamingMode } from "@google/adk";
import { z } from "zod";

const { GATEWAY_KEY: apiKey, MODEL, GATEWAY_URL: url } = process.env;
process.env.GOOGLE_GEMINI_BASE_URL = url;
const model = new Gemini({ model: MODEL, apiKey });
const weather = new FunctionTool({
  name: "weather",
  description: "The weather of a city.",
  parameters: z.object({ city: z.string() }),
  execute: () => ({ weather: "sunny-21" }),
});

async function run(tools, text, streamingMode) {
  const runner = new InMemoryRunner({ agent: new LlmAgent({ name: "reporter", model, tools }), appName: "gate" });
  const { id: sessionId } = await runner.sessionService.createSession({ appName: "gate", userId: "u" });
  const newMessage = { role: "user", parts: [{ text }] };
  let told = "";
  for await (const event of runner.runAsync({ userId: "u", sessionId, newMessage, runConfig: { streamingMode } })) {
    const isPiece = streamingMode === StreamingMode.SSE;
    if ((event.partial === true) === isPiece)
      told += event.content?.parts?.map((part) => part.text ?? "").join("") ?? "";
  }
  return told;
}

const whole = await run([], "Say hello.", StreamingMode.NONE);
const stream = await run([], "Say hello.", StreamingMode.SSE);
const tools = await run([weather], "How is the weather in Oslo?", StreamingMode.NONE);
const streamedTools = await run([weather], "How is the weather in Oslo?", StreamingMode.SSE);
console.log(JSON.stringify({ whole, stream, tools, streamedTools }));
