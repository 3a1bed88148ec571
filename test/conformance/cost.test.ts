/** A recorded answer costs the same, whichever format its client speaks, and what was worked out by hand. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type GatewayProcess, startGateway } from "../support/gateway-process.js";
import { Management } from "../support/management.js";
import {
  recordedAnthropicTokens,
  recordedChatTokens,
  recordedGeminiTokens,
  type RecordedTokens,
} from "../support/recorded-tokens.js";
import { errorFormats } from "./error-formats.js";
import { recordedWires, recordingsNote } from "./recorded.js";

const TOKENS: Readonly<Record<string, RecordedTokens>> = {
  ...recordedChatTokens,
  ...recordedAnthropicTokens,
  ...recordedGeminiTokens,
};
/** A thousand nano-USD a token is a dollar for a million. Each component costs otherwise, so that none hides. */
const OUTPUT_TOKENS_MAX = 20_000;
const PRICE = '{ input: "1", cache_read: "0.5", output: "3", reasoning: "7" }';

const CASES = recordedWires
  // A client of another format never meets the responses of OpenAI's own.
  .filter(({ wire }) => wire.name !== "openai-responses")
  .flatMap(({ family, streams, answers }) => {
    const streamed = streams.map(({ name, body }) => ({ family, name, body, isStream: true }));
    return streamed.concat(answers.map(({ name, body }) => ({ family, name, body, isStream: false })));
  })
  .filter(({ name }) => name in TOKENS)
  .map(({ family, name, body, isStream }, place) => ({ family, name, body, isStream, place }));

let server: Server;
let gateway: GatewayProcess;
let management: Management;
let secret: string;

function costNanos({ input, cacheRead = 0, output, reasoning = 0 }: RecordedTokens): number {
  return 1_000 * input + 500 * cacheRead + 3_000 * output + 7_000 * reasoning;
}

describe.runIf(CASES.length > 0)(recordingsNote, () => {
  beforeAll(async () => {
    server = createServer((request, response) => {
      const { body, isStream } = CASES[Number(/^\/(\d+)\//.exec(request.url ?? "")?.[1])]!;
      const type = isStream ? "text/event-stream" : "application/json";
      request.resume().on("end", () => response.writeHead(200, { "content-type": type }).end(body));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const limits = `context_tokens: 100000, output_tokens_max: ${OUTPUT_TOKENS_MAX}, price: ${PRICE}`;
    const settings = [
      "upstreams:",
      ...CASES.map(({ family, place }) => {
        const base = `http://127.0.0.1:${port}/${place}${family === "openai-compatible" ? "/v1" : ""}`;
        return `  up-${place}: { family: ${family}, base_url: "${base}", api_key: "sk-of-the-upstream" }`;
      }),
      "models:",
      ...CASES.map(({ place }) => `  model-${place}: { targets: [{ upstream: up-${place} }], ${limits} }`),
      "",
    ].join("\n");
    gateway = await startGateway({ settings });
    // Recordings say more than the SDKs declare, and older ones less.
    gateway.expectOddAnswers();
    management = new Management(gateway);
    await management.account("acme", 1_000_000_000_000n);
    ({ secret } = await management.makeKey("acme"));
  });
  afterAll(async () => {
    await management.verify();
    await gateway.stop();
    await new Promise((resolve) => server.close(resolve));
  });

  test.each(CASES)("$name", async ({ name, isStream, place }) => {
    const want = TOKENS[name]!;
    for (const format of errorFormats) {
      const { path, body, headers } = format.ask(`model-${place}`, isStream, OUTPUT_TOKENS_MAX);
      const response = await fetch(gateway.url + path, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers(secret) },
        body: JSON.stringify(body),
      });
      const text = await response.text();
      expect(response.status, text).toBe(200);
      const id = response.headers.get("x-request-id");
      const request = async (): Promise<Readonly<Record<string, unknown>>> =>
        Object((await management.call("GET", `/requests/${id}`)).body["request"]) as Readonly<Record<string, unknown>>;
      await expect.poll(async () => (await request())["state"]).toMatch(/^(settled|voided)$/);
      const { cost_nanos: cost, state } = await request();
      expect({ format: format.name, cost, state }).toEqual({
        format: format.name,
        // Also of what was withheld before a word was said: its report tells what was generated.
        cost: String(costNanos(want)),
        state: "settled",
      });
    }
  });
});
