/** Claude's agents as a library: a query, its pieces, and a tool of the program's own. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSdkMcpServer, query, tool } from "@anthropic-ai/claude-agent-sdk";
import { z } from "zod";

const { GATEWAY_URL, GATEWAY_KEY, MODEL: model, PATH, HOME } = process.env;
const weather = tool("weather", "The weather of a city.", { city: z.string() }, () =>
  Promise.resolve({ content: [{ type: "text", text: "sunny-21" }] }),
);
const options = {
  model,
  tools: [],
  settingSources: [],
  cwd: mkdtempSync(join(tmpdir(), "claude-")),
  env: {
    PATH,
    HOME,
    ANTHROPIC_BASE_URL: GATEWAY_URL,
    ANTHROPIC_API_KEY: GATEWAY_KEY,
    ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  },
};

async function ask(prompt, more = {}) {
  let [result, pieces] = ["", ""];
  for await (const message of query({ prompt, options: { ...options, ...more } })) {
    if (message.type === "result") result = message.result;
    if (message.type === "stream_event" && message.event.delta?.type === "text_delta")
      pieces += message.event.delta.text;
  }
  return { result, pieces };
}

const { result: whole, pieces: stream } = await ask("Say hello.", { includePartialMessages: true });
const { result: tools } = await ask("How is the weather in Oslo?", {
  mcpServers: { sky: createSdkMcpServer({ name: "sky", tools: [weather] }) },
  allowedTools: ["mcp__sky__weather"],
});
console.log(JSON.stringify({ whole, stream, tools }));
