/** A model with several targets: who is tried, in which order, and who is left alone afterwards. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type FakeUpstream, script, startFakeUpstream } from "../../support/fake-upstream.js";
import { type GatewayProcess, OPERATOR_KEY, startGateway } from "../../support/gateway-process.js";
import { Management } from "../../support/management.js";
import { says } from "../../support/world.js";

let first: FakeUpstream;
let second: FakeUpstream;
let gateway: GatewayProcess;
let management: Management;

beforeAll(async () => {
  [first, second] = await Promise.all([startFakeUpstream(), startFakeUpstream()]);
  gateway = await startGateway({
    settings: `
upstreams:
  first: { family: openai-compatible, base_url: "${first.url}" }
  second: { family: openai-compatible, base_url: "${second.url}" }
  gone: { family: openai-compatible, base_url: "http://127.0.0.1:9/v1" }
models:
  pair: { targets: [{ upstream: first }, { upstream: second, priority: 2 }], output_tokens_max: 100, price: free }
  saved: { targets: [{ upstream: gone }, { upstream: second, priority: 2 }], output_tokens_max: 100, price: free }
  alone: { targets: [{ upstream: first }], output_tokens_max: 100, price: free }
  shared:
    targets: [{ upstream: first, weight: 3 }, { upstream: second }]
    affinity: off
    output_tokens_max: 100
    price: free
`,
  });
  management = new Management(gateway);
});
afterAll(async () => {
  await gateway.stop();
  await Promise.all([first.close(), second.close()]);
});
beforeEach(async () => {
  for (const id of ["first", "second", "gone"]) await management.call("POST", `/upstreams/${id}:reset`, {});
});

/** Fails once at whoever is asked first, and is answered plainly by the next. */
const once = (fake: object): string => script({ times: 1, id: crypto.randomUUID(), ...fake });

describe("before the first byte", () => {
  test.each([
    { when: "it answers 503", fake: { status: 503 } },
    { when: "it answers 500 with HTML", fake: { status: 500, body: "<html>" } },
    { when: "it cuts the connection", fake: { cutAfter: 0 } },
    { when: "it is at its own limit", fake: { status: 429, headers: { "retry-after": "30" } } },
    { when: "it refuses our credential", fake: { status: 401 } },
    { when: "its stream begins with an error", fake: { errorAfter: 0 }, stream: true },
  ])("another target is asked when $when", async ({ fake, stream }) => {
    // Both fakes follow the script, so that each shows that it was asked.
    const failing = script(fake);
    const [firstBefore, secondBefore] = [first.requests.length, second.requests.length];
    const response = await ask(JSON.stringify({ model: "pair", stream: stream ?? false, messages: says(failing) }));
    expect(first.requests.length).toBeGreaterThan(firstBefore);
    expect(second.requests.length).toBeGreaterThan(secondBefore);
    expect(response.ok).toBe(false);
  });

  test("a target that cannot be reached is left for one that answers", async () => {
    const response = await ask(JSON.stringify({ model: "saved", messages: says("Hello") }));
    expect(response.status).toBe(200);
    expect(response.headers.get("x-tollgate-upstream")).toBe("second");
    expect(response.headers.get("x-tollgate-attempts")).toBe("2");
  });

  test("a request that is wrong is not tried elsewhere", async () => {
    const before = second.requests.length;
    const response = await ask(JSON.stringify({ model: "pair", messages: says(script({ status: 400 })) }));
    expect(response.status).toBe(400);
    expect(second.requests.length).toBe(before);
  });

  test("one that failed once is tried again where it is the only one", async () => {
    const response = await ask(JSON.stringify({ model: "alone", messages: says(once({ status: 500 })) }));
    expect(response.status).toBe(200);
    expect(response.headers.get("x-tollgate-attempts")).toBe("2");
  });
});

test("after the first byte nobody else is asked: the stream ends with an error", async () => {
  const before = second.requests.length;
  const body = { model: "pair", stream: true, messages: says(script({ words: 9, cutAfter: 3 })) };
  const text = await (await ask(JSON.stringify(body))).text();
  expect(text).toContain("word1");
  expect(text).toContain("upstream_error");
  expect(text).not.toContain("[DONE]");
  expect(second.requests.length).toBe(before);
});

test("an upstream that refuses our credential is ejected, and an operator can take it back at once", async () => {
  await ask(JSON.stringify({ model: "pair", messages: says(script({ status: 401 })) }));
  expect(await healthOf("first")).toBe("refused");
  await management.call("POST", "/upstreams/second:reset", {});
  const answered = await ask(JSON.stringify({ model: "pair", messages: says("Hello") }));
  expect(answered.headers.get("x-tollgate-upstream")).toBe("second");
  await management.call("POST", "/upstreams/first:reset", {});
  const back = await ask(JSON.stringify({ model: "pair", messages: says("Hello") }));
  expect(back.headers.get("x-tollgate-upstream")).toBe("first");
});

test("five failures in a row eject an upstream, and the others take over", async () => {
  for (let index = 0; index < 6; index += 1) {
    await ask(JSON.stringify({ model: "saved", messages: says("Hello") }));
  }
  expect(await healthOf("gone")).toBe("cooling");
  const answered = await ask(JSON.stringify({ model: "saved", messages: says("Hello") }));
  expect(answered.headers.get("x-tollgate-attempts")).toBe("1");
});

test("targets of one priority share by weight", async () => {
  const counts = { first: 0, second: 0 };
  for (let index = 0; index < 120; index += 1) {
    const answered = await ask(JSON.stringify({ model: "shared", messages: says("Hello") }));
    counts[answered.headers.get("x-tollgate-upstream") === "first" ? "first" : "second"] += 1;
  }
  // Three to one: of 120, 90 are expected; fewer than 65 or more than 112 come by chance less than once in a
  // million runs.
  expect(counts.first).toBeGreaterThan(65);
  expect(counts.first).toBeLessThan(112);
});

async function healthOf(id: string): Promise<unknown> {
  const { body } = await management.call("GET", "/upstreams");
  const upstreams = body["upstreams"] as { id: string; health: string }[];
  return upstreams.find((upstream) => upstream.id === id)?.health;
}

function ask(body: string): Promise<Response> {
  return fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${OPERATOR_KEY}`, "content-type": "application/json" },
    body,
  });
}
