/** Claude's agent behind the Agent Client Protocol, as an editor starts it. */
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { client, methods, ndJsonStream, PROTOCOL_VERSION } from "@agentclientprotocol/sdk";

const { GATEWAY_URL, GATEWAY_KEY, MODEL, PATH, HOME } = process.env;
const program = "node_modules/@agentclientprotocol/claude-agent-acp/dist/index.js";
// Its auto mode says at each answer that a gateway stands before the vendor.
mkdirSync(join(HOME, ".claude"));
writeFileSync(join(HOME, ".claude/settings.json"), JSON.stringify({ permissions: { defaultMode: "default" } }));
const agent = spawn(process.execPath, [program], {
  env: {
    PATH,
    HOME,
    ANTHROPIC_BASE_URL: GATEWAY_URL,
    ANTHROPIC_API_KEY: GATEWAY_KEY,
    ANTHROPIC_MODEL: MODEL,
    ANTHROPIC_DEFAULT_HAIKU_MODEL: MODEL,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  },
  stdio: ["pipe", "pipe", "inherit"],
});
const lines = ndJsonStream(Writable.toWeb(agent.stdin), Readable.toWeb(agent.stdout));
const stream = await client({ name: "editor" }).connectWith(lines, async (context) => {
  await context.request(methods.agent.initialize, { protocolVersion: PROTOCOL_VERSION, clientCapabilities: {} });
  const session = await context.buildSession(mkdtempSync(join(tmpdir(), "acp-"))).start();
  const [told] = await Promise.all([session.readText(), session.prompt("Say hello.")]);
  return told;
});
agent.kill();
console.log(JSON.stringify({ stream }));
process.exit();
