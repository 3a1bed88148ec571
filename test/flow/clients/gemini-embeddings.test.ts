/** Vectors for Google's clients, on its own models and on others'. */
import { GoogleGenAI } from "@google/genai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type FakeVectors, startFakeVectors } from "../../support/fake-vectors.js";
import { type GatewayProcess, startGateway } from "../../support/gateway-process.js";
import { Management } from "../../support/management.js";

type Json = Readonly<Record<string, unknown>>;

let fake: FakeVectors;
let core: GatewayProcess;
let secret: string;
beforeAll(async () => {
  fake = await startFakeVectors();
  const price = 'price: { input: "0.01", output: "0" }';
  const settings = [
    "upstreams:",
    `  fake: { family: openai-compatible, base_url: "${fake.url}/v1", api_key: "sk-upstream-secret-0123456789" }`,
    `  google: { family: gemini, base_url: "${fake.url}", api_key: "AIza-upstream-secret-of-this-test" }`,
    "models:",
    `  vectors-1: { targets: [{ upstream: fake }], kind: embedding, context_tokens: 100, ${price} }`,
    `  gemini-embedding-001: { targets: [{ upstream: google }], context_tokens: 2000, ${price} }`,
    "",
  ].join("\n");
  core = await startGateway({ settings });
  const management = new Management(core);
  await management.account("acme", 100_000_000_000n);
  ({ secret } = await management.makeKey("acme"));
});
afterAll(async () => {
  await core.stop();
  await fake.close();
});

describe("Google's client", () => {
  const google = (): GoogleGenAI => new GoogleGenAI({ apiKey: secret, httpOptions: { baseUrl: core.url } });
  const post = (path: string, body: object): Promise<Response> =>
    fetch(`${core.url}/v1beta/models/${path}`, {
      method: "POST",
      headers: { "x-goog-api-key": secret, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  const content = (text: string): object => ({ parts: [{ text }] });

  test.each(["vectors-1", "gemini-embedding-001"])("gets the vectors of %s", async (model) => {
    const contents = ["one", "three is longer"];
    const answer = await google().models.embedContent({ model, contents, config: { outputDimensionality: 3 } });
    expect(answer.embeddings).toHaveLength(2);
    expect(answer.embeddings?.map(({ values }) => values?.every((value) => typeof value === "number"))).toEqual([
      true,
      true,
    ]);
  });

  test.each(["vectors-1", "gemini-embedding-001"])("gets one vector of %s for one content", async (model) => {
    const one = (await (await post(`${model}:embedContent`, { content: content("one") })).json()) as Json;
    const batch = { requests: [{ model: `models/${model}`, content: content("one") }] };
    const many = (await (await post(`${model}:batchEmbedContents`, batch)).json()) as Json;
    expect(Object.keys(one)).toContain("embedding");
    expect(many["embeddings"]).toEqual([one["embedding"]]);
  });

  test("what is said to Google's models alone reaches them, and is named where others answer", async () => {
    const body = { content: content("one"), taskType: "RETRIEVAL_QUERY", title: "t", output_dimensionality: 3 };
    const own = await post("gemini-embedding-001:embedContent", body);
    expect(own.headers.get("x-tollgate-dropped")).toBeNull();
    expect(fake.requests.at(-1)?.body).toMatchObject({
      requests: [{ taskType: "RETRIEVAL_QUERY", title: "t", outputDimensionality: 3 }],
    });
    const other = await post("vectors-1:embedContent", body);
    expect(other.headers.get("x-tollgate-dropped")).toBe("taskType, title");
  });

  test.each([
    { name: "no content", body: {}, param: "content" },
    { name: "no request", body: { requests: [] }, param: "requests" },
    {
      name: "a picture",
      body: { content: { parts: [{ inlineData: { mimeType: "image/png", data: "eA==" } }] } },
      param: "content.parts[0].text",
    },
    { name: "no dimensions", body: { content: content("x"), outputDimensionality: 0 }, param: "outputDimensionality" },
  ])("$name is refused by its parameter", async ({ body, param }) => {
    const response = await post("vectors-1:embedContent", body);
    expect(response.status).toBe(400);
    expect(JSON.stringify(await response.json())).toContain(param);
  });

  test("an action that a model lacks is refused with one that it has", async () => {
    const response = await post("vectors-1:predict", {});
    expect(response.status).toBe(404);
    expect(JSON.stringify(await response.json())).toMatch(/Did you mean \/v1beta\/models\/vectors-1:\w+\?/);
  });
});
