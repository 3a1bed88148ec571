/** A graph of LangGraph that is drawn by hand: a model, its tools, and the way back. */
import { tool } from "@langchain/core/tools";
import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { ToolNode, toolsCondition } from "@langchain/langgraph/prebuilt";
import { ChatOpenAI } from "@langchain/openai";
import { z } from "zod";

const { GATEWAY_URL: url, GATEWAY_KEY: apiKey, MODEL: model } = process.env;
const weather = tool(() => "sunny-21", {
  name: "weather",
  description: "The weather of a city.",
  schema: z.object({ city: z.string() }),
});
const chat = new ChatOpenAI({ model, apiKey, configuration: { baseURL: `${url}/v1` } }).bindTools([weather]);
const graph = new StateGraph(MessagesAnnotation)
  .addNode("model", async ({ messages }) => ({ messages: [await chat.invoke(messages)] }))
  .addNode("tools", new ToolNode([weather]))
  .addEdge(START, "model")
  .addConditionalEdges("model", toolsCondition)
  .addEdge("tools", "model")
  .compile();
const asked = { messages: [{ role: "user", content: "How is the weather in Oslo?" }] };
const { messages } = await graph.invoke(asked);
let streamedTools = "";
for await (const [chunk] of await graph.stream(asked, { streamMode: "messages" }))
  if (chunk.getType() === "ai") streamedTools += chunk.text;
console.log(JSON.stringify({ tools: messages.at(-1).text, streamedTools }));
