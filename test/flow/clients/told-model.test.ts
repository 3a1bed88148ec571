/** The model that an answer names: the name that was asked, where that is not the vendor's own. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type GatewayProcess, startGateway } from "../../support/gateway-process.js";
import { Management } from "../../support/management.js";
import { WIRE_ANSWERS } from "../../support/wire-answers.js";

/** As every answer of the upstream calls itself. */
const VENDORS = "m";
const FAMILIES = ["openai-compatible", "openai", "anthropic", "gemini"] as const;
/** The model's own name, one that the operator gave, and one in whose stead another model answers. */
const NAMES = ["own", "mapped", "other"] as const;
const SAID = [{ role: "user", content: "Hi" }];

/** How each format asks. The Gemini format says it in the path. */
const CALLS: readonly { readonly path: string; readonly body: object; readonly streams: boolean }[] = [
  { path: "/v1/chat/completions", body: { messages: SAID }, streams: true },
  { path: "/v1/responses", body: { input: "Hi" }, streams: true },
  { path: "/v1/messages", body: { messages: SAID, max_tokens: 50 }, streams: true },
  { path: "/v1/models/{model}:generateContent", body: { contents: [{ parts: [{ text: "Hi" }] }] }, streams: true },
  { path: "/v1/completions", body: { prompt: "Hi" }, streams: true },
  { path: "/v1/embeddings", body: { input: "Hi" }, streams: false },
];

let upstream: Server;
let down: Server;
let gateway: GatewayProcess;
let secret: string;
beforeAll(async () => {
  upstream = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      const url = request.url ?? "";
      if (url.includes("/embeddings")) {
        const embedding = { object: "embedding", index: 0, embedding: [0.5] };
        const usage = { prompt_tokens: 1, total_tokens: 1 };
        return void response.end(JSON.stringify({ object: "list", model: VENDORS, data: [embedding], usage }));
      }
      const wire = WIRE_ANSWERS.find(({ path }) => path.test(url.split("?")[0] ?? ""));
      if (wire === undefined) return void response.writeHead(404).end("{}");
      if (!url.includes("stream") && !/"stream":\s*true/.test(body))
        return void response.end(JSON.stringify(wire.whole("Hello")));
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(Buffer.concat([...wire.stream("Hello"), ...wire.end]));
    });
  });
  down = createServer((_request, response) => void response.writeHead(500).end("{}"));
  for (const server of [upstream, down]) await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const address = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const limits = 'context_tokens: 100000, output_tokens_max: 1000, price: { input: "0.01", output: "0.1" }';
  const entry = (family: string, name: (typeof NAMES)[number]): string => {
    const own = `vendor-of-${family}`;
    const id = name === "own" ? own : `${name}-of-${family}`;
    const target = `{ upstream: up-${family}, model: ${own} }`;
    const first = `{ upstream: down-${family}, model: first-of-${family} }`;
    const targets = name === "other" ? `${first}, { upstream: up-${family}, model: ${own}, priority: 2 }` : target;
    return `  ${id}: { targets: [${targets}], ${limits} }`;
  };
  const base = (server: Server, family: string): string => address(server) + (family.startsWith("openai") ? "/v1" : "");
  gateway = await startGateway({
    settings: [
      "upstreams:",
      ...FAMILIES.flatMap((family) => [
        `  up-${family}: { family: ${family}, base_url: "${base(upstream, family)}", api_key: sk-upstream-secret }`,
        `  down-${family}: { family: ${family}, base_url: "${base(down, family)}", api_key: sk-upstream-secret }`,
      ]),
      "models:",
      ...FAMILIES.flatMap((family) => NAMES.map((name) => entry(family, name))),
      "",
    ].join("\n"),
  });
  const management = new Management(gateway);
  await management.account("acme", 100_000_000_000n);
  ({ secret } = await management.makeKey("acme"));
});
afterAll(async () => {
  gateway.expectOddAnswers();
  await gateway.stop();
  for (const server of [upstream, down]) server.close();
});

async function asked(path: string, body: object, model: string, stream: boolean): Promise<Response> {
  const isPath = path.includes("{model}");
  const to = path
    .replace("{model}", model)
    .replace("generateContent", stream ? "streamGenerateContent" : "generateContent");
  return fetch(gateway.url + to + (isPath && stream ? "?alt=sse" : ""), {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": secret, "anthropic-version": "2023-06-01" },
    body: JSON.stringify(isPath ? body : { ...body, model, stream }),
  });
}

test("a client's hint of a long context is no part of the name", async () => {
  const answer = await asked("/v1/messages", { messages: SAID, max_tokens: 50 }, "mapped-of-anthropic[1m]", false);
  expect(await answer.json()).toMatchObject({ model: "mapped-of-anthropic" });
});

describe.each(FAMILIES)("of %s", (family) => {
  const calls = CALLS.filter(
    ({ path }) => family === "openai-compatible" || !/\/(completions|embeddings)$/.test(path) || path.includes("chat"),
  );
  const cases = calls.flatMap(({ path, body, streams }) =>
    (streams ? [false, true] : [false]).flatMap((stream) => NAMES.map((name) => ({ path, body, stream, name }))),
  );
  test.each(cases)("$path names the model, $name, streamed: $stream", async ({ path, body, stream, name }) => {
    const own = `vendor-of-${family}`;
    const model = name === "own" ? own : `${name}-of-${family}`;
    const answer = await asked(path, body, model, stream);
    const text = await answer.text();
    expect(answer.status, text).toBe(200);
    const told = [...text.matchAll(/"model(?:Version)?":\s*"([^"]*)"/g)].map(([, said]) => said);
    expect(told.length).toBeGreaterThan(0);
    expect(new Set(told)).toEqual(new Set([name === "mapped" ? model : VENDORS]));
    expect(answer.headers.get("x-tollgate-model")).toBe(own);
  });
});
