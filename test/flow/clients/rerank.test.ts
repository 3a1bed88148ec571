/** Rankings end to end: Cohere's official client, bare requests and typed services, on every kind of server. */
import { Metadata, type ServiceError, status } from "@grpc/grpc-js";
import { CohereClientV2 } from "cohere-ai";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { clientOf, type DynamicUnary, type Json } from "../../support/dynamic-client.js";
import { DOCUMENT_TOKENS, type FakeRerank, startFakeRerank } from "../../support/fake-rerank.js";
import { type GatewayProcess, startGateway } from "../../support/gateway-process.js";
import { Management } from "../../support/management.js";
import { readMetrics } from "../../support/metrics-reading.js";

/** Nano-USD for a search unit, and for a token. */
const UNIT_NANOS = 2_000_000n;
const TOKEN_NANOS = 20n;
const UNITS = 'price: { units: { search_unit: "2.00" } }';
const TOKENS = 'price: { input: "0.02", output: "0" }';

function settings(url: string): string {
  const model = (upstream: string, price: string): string =>
    `{ targets: [{ upstream: ${upstream} }], kind: rerank, ${price} }`;
  return [
    "upstreams:",
    `  cohere: { family: cohere, base_url: "${url}", api_key: "co-upstream-secret" }`,
    `  jina: { family: jina, base_url: "${url}/v1", api_key: "jina-upstream-secret" }`,
    `  voyage: { family: voyage, base_url: "${url}/voyage", api_key: "pa-upstream-secret" }`,
    `  vllm: { family: vllm, base_url: "${url}/v1" }`,
    `  llama: { family: llamacpp, base_url: "${url}/llama" }`,
    `  sglang: { family: openai-compatible, base_url: "${url}/sglang" }`,
    `  reseller: { family: openai-compatible, base_url: "${url}/v1" }`,
    "models:",
    `  rerank-v4: ${model("cohere", UNITS)}`,
    `  unpriced-units: ${model("cohere", TOKENS)}`,
    `  unpriced-tokens: ${model("jina", UNITS)}`,
    `  free-units: ${model("cohere", "price: free")}`,
    `  zero-units: ${model("cohere", "price: { units: { search_unit: 0 } }")}`,
    `  jina-reranker: ${model("jina", TOKENS)}`,
    `  voyage-rerank: ${model("voyage", TOKENS)}`,
    `  vllm-reranker: ${model("vllm", TOKENS)}`,
    `  llama-reranker: ${model("llama", TOKENS)}`,
    `  sglang-reranker: ${model("sglang", TOKENS)}`,
    `  resold: ${model("reseller", UNITS)}`,
    `  one-variant: ${model("cohere", 'price: { units: { search_unit/fast: "2.00" } }')}`,
    `  chat-1: { targets: [{ upstream: vllm }], kind: chat, output_tokens_max: 10, ${TOKENS} }`,
    "",
  ].join("\n");
}

let fake: FakeRerank;
let core: GatewayProcess;
let management: Management;
let secret: string;

beforeAll(async () => {
  fake = await startFakeRerank();
  core = await startGateway({ settings: settings(fake.url) });
  management = new Management(core);
  await management.account("acme", 100_000_000_000n);
  ({ secret } = await management.makeKey("acme"));
});
afterEach(() => {
  fake.override = {};
  fake.requests.length = 0;
});
afterAll(async () => {
  await core.stop();
  await fake.close();
});

const FRUITS = ["axxx", "stone", "xx fruit", "x"];

function cohere(): CohereClientV2 {
  return new CohereClientV2({ token: secret, environment: core.url, maxRetries: 0 });
}

async function post(
  path: string,
  body: object,
  key = secret,
): Promise<{ status: number; body: Record<string, unknown>; headers: Headers }> {
  const answer = await fetch(`${core.url}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown>, headers: answer.headers };
}

const costOf = ({ headers }: { readonly headers: Headers }): bigint =>
  BigInt(headers.get("x-tollgate-cost-nanos") ?? -1);

describe("Cohere's own client", () => {
  test("reads a ranking, and a unit is charged", async () => {
    const { data, rawResponse } = await cohere()
      .rerank({ model: "rerank-v4", query: "x", documents: FRUITS, topN: 2 })
      .withRawResponse();
    expect(data.results.map(({ index }) => index)).toEqual([3, 0]);
    expect(data.meta?.billedUnits?.searchUnits).toBe(1);
    expect(costOf(rawResponse as unknown as { headers: Headers })).toBe(UNIT_NANOS);
    expect(fake.requests).toEqual([
      { path: "/v2/rerank", body: { model: "rerank-v4", query: "x", documents: FRUITS, top_n: 2 } },
    ]);
  });

  test("is refused in words, and the upstream is not asked", async () => {
    const refusal = await cohere()
      .rerank({ model: "no-such-model", query: "x", documents: FRUITS })
      .catch((error: unknown) => error);
    expect(String(refusal)).toContain("no-such-model");
    expect(fake.requests).toEqual([]);
  });

  test("hangs up, and what its upstream tells is charged once", async () => {
    fake.override = { delayMs: 500 };
    const account = await openAccount();
    const client = new CohereClientV2({ token: account.secret, environment: core.url, maxRetries: 0 });
    const gone = new AbortController();
    const asked = client.rerank(
      { model: "rerank-v4", query: "x", documents: FRUITS },
      { abortSignal: gone.signal, maxRetries: 0 },
    );
    await expect.poll(() => fake.requests.length).toBe(1);
    gone.abort();
    await expect(asked).rejects.toThrow();
    await expect.poll(() => held(account.id)).toBe("0");
    expect(await spent(account.id)).toBe(UNIT_NANOS);
  });
});

let accounts = 0;
async function openAccount(): Promise<{ id: string; secret: string }> {
  const id = `case-${++accounts}`;
  await management.account(id, 1_000_000_000n);
  return { id, secret: (await management.makeKey(id)).secret };
}

async function held(id: string): Promise<string> {
  return String((await management.balance(id)).heldNanos);
}

async function spent(id: string): Promise<bigint> {
  return (await management.balance(id)).spentNanos;
}

describe.each(["jina-reranker", "voyage-rerank", "vllm-reranker", "llama-reranker", "sglang-reranker"])(
  "%s",
  (model) => {
    test("ranks texts, best first and within the bound, with what was sent where it is asked for", async () => {
      const asked = { model, query: "x", documents: FRUITS, top_n: 2, return_documents: true };
      const answer = await post("/v1/rerank", asked);
      expect(answer.status).toBe(200);
      const results = answer.body["results"] as readonly Record<string, unknown>[];
      expect(results.map(({ index, document }) => [index, document])).toEqual([
        [3, { text: "x" }],
        [0, { text: "axxx" }],
      ]);
      // llama.cpp serves one model, and names the file of that.
      expect(answer.body["model"]).toBe(model === "llama-reranker" ? "file.gguf" : model);
      expect(costOf(answer)).toBeGreaterThan(0n);
    });

    test.runIf(model !== "sglang-reranker")("is charged by the tokens that it tells", async () => {
      const answer = await post("/rerank", { model, query: "x", documents: FRUITS });
      expect(costOf(answer)).toBe(TOKEN_NANOS * BigInt(FRUITS.length * DOCUMENT_TOKENS));
      expect(answer.body["usage"]).toMatchObject({ total_tokens: FRUITS.length * DOCUMENT_TOKENS });
    });

    test("is not free without a report", async () => {
      fake.override = { silent: true };
      const answer = await post("/v2/rerank", { model, query: "x and more of it", documents: FRUITS });
      expect(answer.status).toBe(200);
      expect(costOf(answer)).toBeGreaterThan(0n);
    });
  },
);

describe("units", () => {
  test.each([
    { documents: 100, units: 1 },
    { documents: 101, units: 2 },
    { documents: 1_000, units: 10 },
  ])("of $documents documents are $units, with a report and without", async ({ documents, units }) => {
    const asked = { model: "rerank-v4", query: "x", documents: Array.from({ length: documents }, (_, at) => `x${at}`) };
    for (const silent of [false, true]) {
      fake.override = { silent };
      const answer = await post("/v2/rerank", asked);
      expect(costOf(answer)).toBe(UNIT_NANOS * BigInt(units));
      expect(answer.body["meta"]).toMatchObject({ billed_units: { search_units: units } });
    }
  });

  test("of long documents count each 500 tokens, and never more than was held", async () => {
    fake.override = { silent: true };
    const documents = Array.from({ length: 50 }, () => "x y ".repeat(2_000));
    const answer = await post("/v2/rerank", { model: "rerank-v4", query: "x", documents });
    // About 2,000 tokens each, with the query: 5 pieces, or 250 of all.
    expect(costOf(answer)).toBe(UNIT_NANOS * 3n);
  });

  test("that are told beyond what the request can have are charged within the bound", async () => {
    const results = [{ index: 0, relevance_score: 1 }];
    fake.override = { body: JSON.stringify({ results, meta: { billed_units: { search_units: 999 } } }) };
    const answer = await post("/v2/rerank", { model: "rerank-v4", query: "x", documents: FRUITS });
    expect(costOf(answer)).toBe(UNIT_NANOS);
  });

  test("are sold by whoever prices them", async () => {
    const answer = await post("/v1/rerank", { model: "resold", query: "x", documents: FRUITS });
    expect(costOf(answer)).toBe(UNIT_NANOS);
  });

  test.each(["free-units", "zero-units"])("at a price of nothing (%s) are free", async (model) => {
    expect(costOf(await post("/v2/rerank", { model, query: "x", documents: FRUITS }))).toBe(0n);
  });

  test.each([
    { model: "unpriced-units", unit: "search units" },
    { model: "unpriced-tokens", unit: "tokens" },
    { model: "one-variant", unit: "search units" },
  ])("without a price are refused by name, and the upstream is never asked ($unit)", async ({ model, unit }) => {
    const answer = await post("/v2/rerank", { model, query: "x", documents: FRUITS });
    expect(answer.status).toBe(400);
    expect(answer.body["error"]).toMatchObject({
      param: "model",
      message: expect.stringContaining(`no price for ${unit}`),
    });
    expect(fake.requests).toEqual([]);
  });

  test("count in limits of tokens by the length of the request", async () => {
    const documents = Array.from({ length: 100 }, () => "words of it ".repeat(100));
    const asked = { model: "rerank-v4", query: "x", documents };
    const key = await management.makeKey("acme", { tokens_per_minute: "1000000" });
    expect((await post("/v2/rerank", asked, key.secret)).status).toBe(200);
    const figures = async (): Promise<number> => {
      const { body } = await management.call("GET", `/keys/${key.id}`);
      const told = body as { readonly key: { readonly figures: { readonly tokens_used: string } } };
      return Number(told.key.figures.tokens_used);
    };
    await expect.poll(figures).toBeGreaterThan(20_000);
    expect(await figures()).toBeLessThan(60_000);
  });

  test("are in the receipt, the sums of the day and the query, and the ledger is proven", async () => {
    const account = await openAccount();
    const asked = { model: "rerank-v4", query: "x", documents: Array.from({ length: 101 }, () => "x") };
    const { headers } = await post("/v2/rerank", asked, account.secret);
    const meters = [{ unit: "search_unit", variant: "", quantity: "2" }];
    const receipt = await management.call("GET", `/requests/${headers.get("x-request-id")}`);
    expect(receipt.body).toMatchObject({ request: { usage: { meters }, charged_nanos: String(2n * UNIT_NANOS) } });
    const days = await management.call("GET", `/usage?account_id=${account.id}`);
    expect(days.body).toMatchObject({ summaries: [{ usage: { meters } }], total: { usage: { meters } } });
    const question = `/usage:query?account_id=${account.id}&group_by=model`;
    const sums = async (): Promise<unknown> => (await management.call("GET", question)).body;
    await expect.poll(sums).toMatchObject({ sums: [{ values: ["rerank-v4"], usage: { meters } }] });
    expect(await management.verify()).toMatchObject({ holds: true });
    const metrics = await readMetrics(core);
    expect(metrics.value('tollgate_units_total{model="rerank-v4",unit="search_unit"}')).toBeGreaterThanOrEqual(2);
  });
});

describe("what is asked and answered wrongly", () => {
  test.each([
    { name: "no query", body: { documents: FRUITS }, param: "query" },
    { name: "an empty query", body: { query: "", documents: FRUITS }, param: "query" },
    { name: "no documents", body: { query: "x" }, param: "documents" },
    { name: "an empty list", body: { query: "x", documents: [] }, param: "documents" },
    { name: "numbers", body: { query: "x", documents: [1] }, param: "documents" },
    { name: "a bound of none", body: { query: "x", documents: FRUITS, top_n: 0 }, param: "top_n" },
    {
      name: "a word for a switch",
      body: { query: "x", documents: FRUITS, return_documents: "yes" },
      param: "return_documents",
    },
    {
      name: "an object for a server of texts",
      body: { query: "x", documents: [{ title: "x" }] },
      param: "documents[0]",
    },
  ])("$name is refused with its place", async ({ body, param }) => {
    const answer = await post("/v2/rerank", { model: "rerank-v4", ...body });
    expect(answer.status).toBe(400);
    expect(answer.body["error"]).toMatchObject({ param });
    expect(fake.requests).toEqual([]);
  });

  test.each(["Max_Tokens_Per_Doc", "maxTokensPerDoc", "maxChunksPerDoc"])(
    "%s, which some server may read, is refused: the bound follows from the name",
    async (name) => {
      const answer = await post("/v2/rerank", { model: "resold", query: "x", documents: FRUITS, [name]: 9 });
      expect(answer.status).toBe(400);
      expect(answer.body["error"]).toMatchObject({ param: name });
      expect(fake.requests).toEqual([]);
    },
  );

  test("an object with a text is sent to a server of texts as one", async () => {
    await post("/v1/rerank", {
      model: "rerank-v4",
      query: "x",
      documents: [{ text: "x" }, "y"],
      return_documents: true,
    });
    expect(fake.requests[0]?.body).toEqual({ model: "rerank-v4", query: "x", documents: ["x", "y"] });
  });

  test.each([
    '{"results":[{"index":9,"relevance_score":1}]}',
    '{"results":[{"index":0,"relevance_score":1},{"index":0,"relevance_score":1}]}',
    '{"results":[{"index":0}]}',
    '{"results":[]}',
    "{}",
    "no JSON",
  ])("an answer that is none is the upstream's failure, and free: %s", async (body) => {
    const account = await openAccount();
    fake.override = { body };
    const answer = await post("/v2/rerank", { model: "rerank-v4", query: "x", documents: FRUITS }, account.secret);
    expect(answer.status).toBe(502);
    expect(await spent(account.id)).toBe(0n);
  });

  test("a model that chats is not asked for a ranking, nor one that ranks for a chat", async () => {
    expect((await post("/v1/rerank", { model: "chat-1", query: "x", documents: FRUITS })).status).toBe(400);
    const chat = await post("/v1/chat/completions", { model: "rerank-v4", messages: [{ role: "user", content: "x" }] });
    expect(chat.status).toBe(400);
    expect(JSON.stringify(chat.body)).toContain("it is made for the ranking of documents");
    expect(fake.requests).toEqual([]);
  });

  test("a key without the scope is refused", async () => {
    const key = await management.makeKey("acme", { scopes: ["chat"] });
    const answer = await post("/v1/rerank", { model: "rerank-v4", query: "x", documents: FRUITS }, key.secret);
    expect(answer.status).toBe(403);
  });
});

test("Voyage's clients find the list where they look for it", async () => {
  const asked = { model: "voyage-rerank", query: "x", documents: FRUITS, top_k: 1, return_documents: true };
  const { body } = await post("/v1/rerank", asked);
  expect(body).toMatchObject({ object: "list", data: [{ index: 3, document: "x" }] });
  expect(fake.requests[0]?.body).toEqual(asked);
});

test("a long request is ranked as a short one, whatever its length", async () => {
  const documents = Array.from({ length: 1_000 }, (_, at) => (at === 7 ? "xxxx" : "stone ".repeat(100)));
  for (const model of ["rerank-v4", "jina-reranker", "llama-reranker"]) {
    const answer = await post("/v2/rerank", { model, query: "x", documents, top_n: 1 });
    expect(answer.status).toBe(200);
    expect(answer.body["results"]).toMatchObject([{ index: 7 }]);
  }
});

test("an answer to a long request tells no document in place of one that nobody kept", async () => {
  const documents = Array.from({ length: 1_000 }, (_, at) => (at === 0 ? "xxxx" : "stone ".repeat(100)));
  const asked = { model: "rerank-v4", query: "x", documents, top_n: 1, return_documents: true };
  const { body } = await post("/v2/rerank", asked);
  expect(body["results"]).toMatchObject([{ index: 0 }]);
  expect((body["results"] as readonly object[])[0]).not.toHaveProperty("document");
});

test("an estimate tells the units before they are used", async () => {
  const documents = Array.from({ length: 101 }, () => "x");
  const estimate = await post("/api/v1/estimate/v2/rerank", { model: "rerank-v4", query: "x", documents });
  expect(estimate.body).toMatchObject({ admitted: true, expected_cost_nanos: String(2n * UNIT_NANOS) });
  expect(fake.requests).toEqual([]);
});

test("a typed service gets typed results", async () => {
  const service = clientOf("tollgate.v1.InferenceService", core.grpc);
  const rerank: DynamicUnary = Reflect.get(service, "rerank");
  const metadata = new Metadata();
  metadata.set("authorization", `Bearer ${secret}`);
  const ask = (request: object): Promise<Json> =>
    new Promise((resolve, reject) => {
      rerank.call(service, request as Json, metadata, {}, (error: ServiceError | null, value: Json) =>
        error === null ? resolve(value) : reject(error),
      );
    });
  const answer = await ask({ model: "rerank-v4", query: "x", documents: FRUITS, results_max: 2 });
  expect(answer).toMatchObject({ results: [{ index: 3 }, { index: 0 }], usage: { meters: [{ unit: "search_unit" }] } });
  await expect(ask({ model: "rerank-v4", query: "x" })).rejects.toMatchObject({ code: status.INVALID_ARGUMENT });
  service.close();
});
