/** SDKs and agents whose upstream is silent for a while: each reads over the early head and the signs of life. */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AGENTS } from "../agents/agent.js";
import { runAgent } from "../agents/run.js";
import { forOpenAi, LAST_WORDS, Scenario } from "../agents/scenario.js";
import { type FakeScript, type FakeUpstream, startFakeUpstream } from "../support/fake-upstream.js";
import { type GatewayProcess, startGateway } from "../support/gateway-process.js";
import { Management } from "../support/management.js";
import { type Client, type Doing, outcomeOf, PYTHON_CLIENTS } from "./clients.js";
import { agentPackages, installed, PROGRAM_MS_MAX, runProgram } from "./run.js";
import { sayingFor } from "./saying.js";

const MODEL = "slow-coder";
const DOES: readonly Doing[] = ["stream", "streamedTools"];
const SDKS = new Set(["openai_sdk.py", "anthropic_sdk.py", "google_sdk.py"]);
const AGENT_NAMES = new Set(["Claude Code", "Codex, built-in provider", "Codex, custom provider"]);
/** A comment of a stream, the ping of messages, line ends of Gemini's, or the ping of a WebSocket. */
const SIGN_OF_LIFE = /^(:|event: ping$|2\r\n\n\n\r\n$)|^\u0089/m;

let upstream: FakeUpstream;
let gateway: GatewayProcess;
let secret: string;
let way: Server;
let url: string;
/** What of the requests of a test waits, by its name. */
let held = "";
let signs = 0;
let holds = 0;

beforeAll(async () => {
  upstream = await startFakeUpstream();
  const settings = `
upstreams:
  slow: { family: openai-compatible, base_url: "${upstream.url}" }
models:
  ${MODEL}: { targets: [{ upstream: slow }], stream_head_ms: 100, context_tokens: 400000, price: free }
`;
  gateway = await startGateway({ settings });
  const management = new Management(gateway);
  await management.account("acme", 1_000_000_000n);
  ({ secret } = await management.makeKey("acme"));
  way = createServer((client) => {
    const server = connect(Number(new URL(gateway.url).port), "127.0.0.1");
    client.pipe(server).pipe(client);
    server.on("data", (bytes: Buffer) => {
      if (!SIGN_OF_LIFE.test(bytes.toString("latin1"))) return;
      signs++;
      upstream.release(held);
    });
    for (const socket of [client, server]) socket.on("error", () => [client, server].forEach((end) => end.destroy()));
  }).listen(0, "127.0.0.1");
  await once(way, "listening");
  url = `http://127.0.0.1:${(way.address() as AddressInfo).port}`;
});
afterAll(async () => {
  way.close();
  await gateway.stop();
  await upstream.close();
});

/** From now on each stream waits until a client has seen a sign of life. */
function hold(name: string, say: (body: unknown) => FakeScript): void {
  // What was let go on once waits no more: another try needs a name of its own.
  held = `${name} ${++holds}`;
  signs = 0;
  upstream.decide = (body) => ({ ...say(body), ...(isStream(body) ? { held } : {}) });
}

function isStream(body: unknown): boolean {
  return Reflect.get(Object(body), "stream") === true;
}

describe.each(PYTHON_CLIENTS.filter(({ program }) => SDKS.has(program)))("$program with $name", (client) => {
  const waiting: Client = { ...client, does: DOES };
  const { problem } = installed(client);

  test("waits for its stream", { timeout: PROGRAM_MS_MAX, retry: 1 }, async ({ skip }) => {
    skip(problem !== undefined, problem);
    hold(`${client.program} ${client.name}`, (body) => forOpenAi(sayingFor(body)));
    const { code, printed, told } = await runProgram(waiting, { url, secret, model: MODEL });
    expect({ code, told: code === 0 ? "" : told }).toEqual({ code: 0, told: "" });
    expect(JSON.parse(printed.trim().split("\n").at(-1) ?? "")).toEqual(outcomeOf(waiting));
    expect(signs).toBeGreaterThan(0);
  });
});

describe.each(AGENTS.filter(({ name }) => AGENT_NAMES.has(name)))("$name", (agent) => {
  const { problem, folder } = agentPackages();

  test("waits for its stream", { timeout: PROGRAM_MS_MAX, retry: 1 }, async ({ skip }) => {
    skip(problem !== undefined, problem);
    const scenario = new Scenario("tool round");
    hold(agent.name, (body) => forOpenAi(scenario.say(body)));
    const place = { packages: folder, url, secret, model: MODEL };
    const { printed } = await runAgent(agent, place, "Do what is to be done.");
    expect(printed).toContain(LAST_WORDS);
    expect(signs).toBeGreaterThan(0);
  });
});
