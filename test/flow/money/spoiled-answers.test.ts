/** A failed attempt of which nothing went out is free, whatever was read of it; what went out is charged. */
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { postChat } from "../../support/chat-call.js";
import { type GatewayProcess, startGateway } from "../../support/gateway-process.js";
import { Management } from "../../support/management.js";
import { pace } from "../../support/pauses.js";
import { says } from "../../support/world.js";

const event = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;
const WORDS = event({ choices: [{ index: 0, delta: { role: "assistant", content: "word ".repeat(500) } }] });
const USAGE = event({ choices: [], usage: { prompt_tokens: 5, completion_tokens: 500, total_tokens: 505 } });
const ERROR = event({ error: { message: "boom", type: "server_error" } });
const WHOLE = JSON.stringify({ choices: [{ index: 0, message: { role: "assistant", content: "word ".repeat(500) } }] });

/** How an answer is spoiled. What is charged was passed on: its writes go on once the client has the head. */
interface Spoiled {
  readonly name: string;
  readonly type?: string;
  readonly writes: readonly string[];
  readonly stream: boolean;
  readonly model?: string;
  readonly isCharged: boolean;
}

const SPOILED: readonly Spoiled[] = [
  { name: "words and an error in one read", writes: [WORDS + ERROR], stream: true, isCharged: false },
  { name: "words, usage and an error in one read", writes: [WORDS + USAGE + ERROR], stream: true, isCharged: false },
  { name: "words, and an error later", writes: [WORDS, ERROR], stream: true, isCharged: true },
  { name: "words, and a cut", writes: [WORDS, ""], stream: true, isCharged: true },
  {
    name: "half a whole answer",
    type: "application/json",
    writes: [WHOLE.slice(0, -9)],
    stream: false,
    isCharged: false,
  },
  {
    name: "words and a cut, of a model that only streams, for a whole answer",
    writes: [WORDS, USAGE],
    stream: false,
    model: "streams-1",
    isCharged: false,
  },
];

let server: Server;
let gateway: GatewayProcess;
let management: Management;
let told: Spoiled | undefined;
/** Resolves once the client has the head of its answer. */
let begun: Promise<unknown> = Promise.resolve();

async function spoil(response: ServerResponse): Promise<void> {
  if (told === undefined) return void response.destroy();
  response.writeHead(200, { "content-type": told.type ?? "text/event-stream" });
  for (const write of told.writes) {
    if (write !== "") await new Promise((resolve) => response.write(write, resolve));
    if (told.isCharged) await begun;
    else await pace(100);
  }
  response.destroy();
}

beforeAll(async () => {
  server = createServer((request, response) => {
    request.resume();
    request.on("end", () => void spoil(response));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const limits = `context_tokens: 1000, output_tokens_max: 900, price: { input: "1", output: "10" }`;
  const model = `targets: [{ upstream: liar }], ${limits}`;
  gateway = await startGateway({
    settings: [
      "upstreams:",
      `  liar: { family: openai-compatible, base_url: "http://127.0.0.1:${port}/v1" }`,
      "models:",
      `  spoiled-1: { ${model} }`,
      `  streams-1: { ${model}, facts: { stream_only: true } }`,
    ].join("\n"),
  });
  gateway.expectOddAnswers();
  management = new Management(gateway);
});
afterAll(async () => {
  await gateway.stop();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

test.each(SPOILED)("$name: charged is $isCharged", async (spoiled) => {
  const account = `acme-${SPOILED.indexOf(spoiled)}`;
  await management.account(account, 1_000_000_000n);
  const { secret } = await management.makeKey(account);
  told = spoiled;
  const body = { model: spoiled.model ?? "spoiled-1", messages: says("hi"), stream: spoiled.stream };
  const asked = postChat(gateway, secret, body);
  begun = asked;
  const response = await asked;
  const answer = await response.text().catch(String);
  expect(answer).not.toContain("[DONE]");
  expect(response.status === 200).toBe(spoiled.isCharged);
  await expect.poll(async () => (await management.balance(account)).heldNanos).toBe(0n);
  const { spentNanos } = await management.balance(account);
  expect(spentNanos > 0n).toBe(spoiled.isCharged);
});
