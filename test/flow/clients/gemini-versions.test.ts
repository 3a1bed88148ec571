/** Google's official client at every version of its API that its releases ask for. */
import { ApiError, GoogleGenAI } from "@google/genai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { VERSIONS } from "../../../src/formats/gemini-models.js";
import { type GatewayProcess, startGateway } from "../../support/gateway-process.js";
import { Management } from "../../support/management.js";

const LIMITS = `context_tokens: 100000, output_tokens_max: 1000, price: { input: "0.01", output: "0.1" }`;
const SETTINGS = `
upstreams:
  sim: { family: sim }
models:
  sim-1: { targets: [{ upstream: sim }], ${LIMITS} }
  org/sim-2: { targets: [{ upstream: sim, model: sim-1 }], ${LIMITS} }
  sim-embed-1: { targets: [{ upstream: sim }], ${LIMITS} }
`;

let gateway: GatewayProcess;
let secret: string;
beforeAll(async () => {
  gateway = await startGateway({ settings: SETTINGS });
  const management = new Management(gateway);
  await management.account("acme", 1_000_000_000n);
  ({ secret } = await management.makeKey("acme"));
});
afterAll(() => gateway.stop());

function client(apiVersion?: string, apiKey = secret): GoogleGenAI {
  const httpOptions = { baseUrl: gateway.url, ...(apiVersion === undefined ? {} : { apiVersion }) };
  return new GoogleGenAI({ apiKey, httpOptions });
}

const MADE = [
  { name: "the client's own version", version: undefined },
  ...VERSIONS.map((version) => ({ name: version, version })),
];

describe.each(MADE)("at $name", ({ version }) => {
  test.each(["sim-1", "org/sim-2"])("%s answers whole, streams and counts", async (model) => {
    const { models } = client(version);
    const whole = await models.generateContent({ model, contents: "Say hello." });
    expect(whole.text).toContain("Say hello.");
    let streamed = "";
    for await (const chunk of await models.generateContentStream({ model, contents: "Say hello." }))
      streamed += chunk.text ?? "";
    expect(streamed).toBe(whole.text);
    expect((await models.countTokens({ model, contents: "Say hello." })).totalTokens).toBeGreaterThan(0);
  });

  test("one vector and many", async () => {
    const { models } = client(version);
    for (const contents of ["one", ["one", "two"]]) {
      const { embeddings } = await models.embedContent({ model: "sim-embed-1", contents });
      expect(embeddings?.[0]?.values?.length).toBeGreaterThan(0);
    }
    const path = `${gateway.url}/${version ?? "v1"}/models/sim-embed-1:embedContent`;
    const headers = { "content-type": "application/json", "x-goog-api-key": secret };
    const body = JSON.stringify({ content: { parts: [{ text: "one" }] } });
    expect(await (await fetch(path, { method: "POST", headers, body })).json()).toHaveProperty("embedding.values");
  });

  test("the models are listed and got", async () => {
    const { models } = client(version);
    const names: (string | undefined)[] = [];
    for await (const { name } of await models.list()) names.push(name);
    const others = ["models/sim-moderation-1", "models/sim-rerank-1", "models/sim-speech-1"];
    expect(names).toEqual(["models/org/sim-2", "models/sim-1", "models/sim-embed-1", ...others]);
    expect((await models.get({ model: "org/sim-2" })).name).toBe("models/org/sim-2");
  });

  test.each([
    { name: "a wrong key", key: "sk-nobody-has-this-key-1", status: 401 },
    { name: "an unknown model", key: undefined, status: 404 },
  ])("$name is refused in Google's envelope", async ({ key, status }) => {
    const { models } = client(version, key ?? secret);
    const calls = [
      () => models.get({ model: "none" }),
      () => models.generateContent({ model: "none", contents: "Hi" }),
    ];
    for (const call of calls) {
      const error: unknown = await call().catch((failure: unknown) => failure);
      expect(error).toBeInstanceOf(ApiError);
      expect(error).toMatchObject({ status });
    }
  });
});
