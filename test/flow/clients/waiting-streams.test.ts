/** A client that waits for a stream sees life on every wire, and is told in the stream what fails then. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { errorFormats } from "../../conformance/error-formats.js";
import { type FakeScript, type FakeUpstream, startFakeUpstream } from "../../support/fake-upstream.js";
import { type GatewayProcess, startGateway } from "../../support/gateway-process.js";
import { Management } from "../../support/management.js";

let first: FakeUpstream;
let second: FakeUpstream;
let gateway: GatewayProcess;
let secret: string;

beforeAll(async () => {
  [first, second] = await Promise.all([startFakeUpstream(), startFakeUpstream()]);
  const settings = `
upstreams:
  first: { family: openai-compatible, base_url: "${first.url}" }
  second: { family: openai-compatible, base_url: "${second.url}" }
models:
  alone: { targets: [{ upstream: first }], stream_head_ms: 100, price: free }
  pair: { targets: [{ upstream: first }, { upstream: second, priority: 2 }], stream_head_ms: 100, price: free }
`;
  gateway = await startGateway({ settings });
  const management = new Management(gateway);
  await management.account("acme", 1_000_000_000n);
  ({ secret } = await management.makeKey("acme"));
});
afterAll(async () => {
  await gateway.stop();
  await Promise.all([first.close(), second.close()]);
});

/** How each wire tells an error amid a stream. */
const ERRORS: Readonly<Record<string, RegExp>> = {
  chat: /data: \{"error":\{"message":/,
  responses: /event: (?:error|response\.failed)\ndata: /,
  messages: /event: error\ndata: \{"type":"error","error":\{/,
  gemini: /data: \{"error":\{"code":/,
};

describe.each(errorFormats)("$name", ({ name, ask }) => {
  let asked = 0;

  /** Asks while the first upstream is held: resolves once the head is there. */
  async function waiting(model: string, fake: FakeScript): Promise<{ response: Response; held: string }> {
    const held = `${name}-${(asked += 1)}`;
    first.decide = () => ({ ...fake, held });
    const { path, body, headers } = ask(model, true);
    const response = await fetch(gateway.url + path, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers(secret) },
      body: JSON.stringify(body),
    });
    return { response, held };
  }

  test("the head leaves before the upstream's, and the answer follows", async () => {
    const { response, held } = await waiting("alone", { words: 3 });
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toContain("text/event-stream");
    first.release(held);
    expect(await response.text()).toContain("word2");
  });

  test("what fails then is told by the wire's own event", async () => {
    const { response, held } = await waiting("alone", { status: 400 });
    expect(response.status).toBe(200);
    first.release(held);
    expect(await response.text()).toMatch(ERRORS[name] ?? /never/);
  });

  test("another target is asked behind it", async () => {
    const { response, held } = await waiting("pair", { status: 503 });
    expect(response.status).toBe(200);
    second.decide = () => ({ words: 3 });
    first.release(held);
    expect(await response.text()).toContain("word2");
  });
});

test("the head says what is left out for the upstream that is asked", async () => {
  first.decide = () => ({ words: 3, held: "dropped" });
  const response = await fetch(`${gateway.url}/v1/messages`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": secret },
    body: JSON.stringify({
      model: "alone",
      max_tokens: 50,
      stream: true,
      top_k: 5,
      messages: [{ role: "user", content: "Hi" }],
    }),
  });
  expect(response.headers.get("x-tollgate-upstream")).toBeNull();
  expect(response.headers.get("x-tollgate-dropped")).toBe("top_k");
  first.release("dropped");
  expect(await response.text()).toContain("word2");
});
