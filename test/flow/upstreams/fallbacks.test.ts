/** A model whose targets all fail: which other model answers, what that costs, and what the receipt shows. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { readAll } from "../../support/chat-call.js";
import { type FakeScript, type FakeUpstream, startFakeUpstream } from "../../support/fake-upstream.js";
import { type GatewayProcess, startGateway } from "../../support/gateway-process.js";
import { Management } from "../../support/management.js";
import { says } from "../../support/world.js";

type Json = Readonly<Record<string, unknown>>;
type Entry = Readonly<Record<string, string>>;

const USAGE = { prompt_tokens: 30, completion_tokens: 7 };
/** Of the large model, at 20 nano-USD a token that it reads and 200 a token that it writes. */
const COST_NANOS = 30n * 20n + 7n * 200n;
const CONTEXT = {
  status: 400,
  body: JSON.stringify({
    error: { message: "too long", type: "invalid_request_error", param: "messages", code: "context_length_exceeded" },
  }),
};
const POLICY = {
  status: 400,
  body: JSON.stringify({ error: { message: "no", type: "invalid_request_error", code: "content_policy_violation" } }),
};
const BOUNDS = "output_tokens_max: 100, context_tokens: 10000";

let first: FakeUpstream;
let second: FakeUpstream;
let gateway: GatewayProcess;
let management: Management;
let secret: string;

beforeAll(async () => {
  [first, second] = await Promise.all([startFakeUpstream(), startFakeUpstream()]);
  gateway = await startGateway({
    settings: `
upstreams:
  first: { family: openai-compatible, base_url: "${first.url}" }
  second: { family: openai-compatible, base_url: "${second.url}" }
  gone: { family: openai-compatible, base_url: "http://127.0.0.1:9/v1" }
models:
  small: { targets: [{ upstream: first }], ${BOUNDS}, price: { input: "0.01", output: "0.1" },
    fallbacks: [gone, large], on_context: large }
  gone: { targets: [{ upstream: gone }], ${BOUNDS}, price: { input: "0.01", output: "0.1" } }
  large: { targets: [{ upstream: second }], ${BOUNDS}, price: { input: "0.02", output: "0.2" } }
  vectors: { targets: [{ upstream: second }], ${BOUNDS}, price: { input: "0.02", output: "0.2" }, kind: embedding }
  odd: { targets: [{ upstream: first }], ${BOUNDS}, price: { input: "0.01", output: "0.1" },
    fallbacks: [vectors, large] }
`,
  });
  management = new Management(gateway);
  await management.account("acme", 100_000_000_000n);
  ({ secret } = await management.makeKey("acme"));
});
afterAll(async () => {
  await management.verify();
  await gateway.stop();
  await Promise.all([first.close(), second.close()]);
});
beforeEach(async () => {
  for (const id of ["first", "second", "gone"]) await management.call("POST", `/upstreams/${id}:reset`, {});
  second.override = { usageIs: USAGE };
});

function ask(body: Json, key = secret): Promise<Response> {
  return fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ messages: says("Hello"), max_tokens: 50, ...body }),
  });
}

async function receiptOf(response: Response): Promise<{ request: Json; entries: Entry[] }> {
  const id = response.headers.get("x-request-id");
  const read = async (): Promise<Json> => (await management.call("GET", `/requests/${id}`)).body;
  await expect.poll(async () => (((await read())["request"] ?? {}) as Json)["state"]).not.toBe("held");
  return (await read()) as unknown as { request: Json; entries: Entry[] };
}

const fails = async (fake: FakeScript, body: Json, key?: string): Promise<{ response: Response; text: string }> => {
  first.override = fake;
  const response = await ask(body, key);
  return { response, text: await readAll(response) };
};

describe("a fallback answers", () => {
  test.each([
    { when: "the model answers 503", fake: { status: 503 } },
    { when: "the model is at its limit", fake: { status: 429, headers: { "retry-after": "60" } } },
    { when: "the model refuses the credential", fake: { status: 401 } },
    { when: "the connection is cut", fake: { cutAfter: 0 } },
    { when: "its stream begins with an error", fake: { errorAfter: 0 }, stream: true },
    { when: "the model answers 503 to a stream", fake: { status: 503 }, stream: true },
    { when: "the request is too long for the model", fake: CONTEXT },
  ])("when $when", async ({ fake, stream = false }) => {
    const spent = (await management.balance("acme")).spentNanos;
    const { response, text } = await fails(fake, { model: "small", stream });
    expect(response.status, text).toBe(200);
    expect(response.headers.get("x-tollgate-upstream")).toBe("second");
    expect(text).toContain('"model":"large"');
    const { request, entries } = await receiptOf(response);
    expect(request).toMatchObject({ model: "large", upstream: "second", charged_nanos: String(COST_NANOS) });
    const attempts = request["attempt_log"] as Json[];
    expect(attempts[0]).toMatchObject({ upstream: "first" });
    expect(attempts.at(-1)).toMatchObject({ upstream: "second" });
    expect(Number(request["attempts"])).toBe(attempts.length);
    const kinds = entries.map(({ kind }) => kind);
    expect(kinds.slice(-2)).toEqual(["hold", "settle"]);
    expect(kinds.filter((kind) => kind === "hold").length).toBe(kinds.length / 2);
    expect(new Set(entries.map((entry) => entry["request_id"]))).toEqual(new Set([request["id"]]));
    await expect
      .poll(async () => management.balance("acme"))
      .toMatchObject({ heldNanos: 0n, spentNanos: spent + COST_NANOS });
  });

  test("and models of another kind are passed over", async () => {
    const { response } = await fails({ status: 503 }, { model: "odd" });
    expect(response.status).toBe(200);
    expect((await receiptOf(response)).request).toMatchObject({ model: "large" });
  });

  test("and the request is one row of the list, at what it was charged", async () => {
    const { response } = await fails({ status: 503 }, { model: "small" });
    const { request } = await receiptOf(response);
    await expect
      .poll(async () => {
        const { body } = await management.call("GET", "/requests?account_id=acme&page_size=100");
        return (body["requests"] as Json[]).filter(({ id }) => String(id).startsWith(String(request["id"])));
      })
      .toMatchObject([{ id: request["id"], model: "large", charged_nanos: String(COST_NANOS) }]);
  });

  test("and is refunded by the id of the request", async () => {
    const { response } = await fails({ status: 503 }, { model: "small" });
    const { request } = await receiptOf(response);
    const refund = { refund_id: `r-${String(request["id"])}`, reason: "it was late" };
    const refunded = await management.call("POST", `/requests/${String(request["id"])}:refund`, refund);
    expect(refunded.body).toMatchObject({ amount_nanos: String(COST_NANOS) });
    expect((await receiptOf(response)).request).toMatchObject({ refunded_nanos: String(COST_NANOS) });
  });
});

describe("no other model answers", () => {
  test.each([
    { when: "the request is wrong", fake: { status: 400 }, status: 400 },
    { when: "the request was refused for its content", fake: POLICY, status: 400 },
  ])("when $when", async ({ fake, status }) => {
    const before = second.requests.length;
    const { response } = await fails(fake, { model: "small" });
    expect(response.status).toBe(status);
    expect(second.requests.length).toBe(before);
  });

  test("once the client has a part of the answer", async () => {
    const before = second.requests.length;
    const { text } = await fails({ cutAfter: 3 }, { model: "small", stream: true });
    expect(text).not.toContain("[DONE]");
    expect(second.requests.length).toBe(before);
  });

  test("when the key may not use it", async () => {
    const { secret: narrow } = await management.makeKey("acme", { models: ["small"] });
    const before = second.requests.length;
    const { response, text } = await fails({ status: 503 }, { model: "small" }, narrow);
    expect(response.status, text).toBe(503);
    expect(second.requests.length).toBe(before);
    expect((await receiptOf(response)).request).toMatchObject({ model: "small", charged_nanos: "0" });
  });

  test("when the money does not cover it, and the first model is tried all the same", async () => {
    await management.account("poor", 0n);
    const { secret: poor } = await management.makeKey("poor", { refuse_unaffordable: true });
    // It covers the hold of the small model, at its bound of input, and not that of the large one, which costs twice.
    const credit = { amount_nanos: "10000", credit_id: "little" };
    expect((await management.call("POST", "/accounts/poor:credit", credit)).status).toBe(200);
    const before = [first.requests.length, second.requests.length];
    const { response, text } = await fails({ status: 503 }, { model: "odd" }, poor);
    expect(response.status, text).toBe(503);
    expect(first.requests.length).toBeGreaterThan(before[0] ?? 0);
    expect(second.requests.length).toBe(before[1]);
    expect(await management.balance("poor")).toMatchObject({ availableNanos: 10_000n, spentNanos: 0n });
  });
});

test("a client hears why the model that it named failed, and not its fallback", async () => {
  second.override = { status: 500 };
  const { response, text } = await fails({ status: 503 }, { model: "small" });
  expect(response.status, text).toBe(503);
  expect(text).toContain("'small'");
});

test("a request that is too long is sent to its model once, and then to the larger one", async () => {
  const before = [first.requests.length, second.requests.length];
  const { response } = await fails(CONTEXT, { model: "small" });
  expect(response.status).toBe(200);
  expect(first.requests.length - (before[0] ?? 0)).toBe(1);
  expect(second.requests.length - (before[1] ?? 0)).toBe(1);
});
