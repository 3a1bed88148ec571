/** Services that call the typed form over gRPC, with nothing but the .proto files. */
import { type Client, Metadata, type ServiceError, status } from "@grpc/grpc-js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { clientOf, type DynamicStream, type DynamicUnary, type Json } from "../../support/dynamic-client.js";
import { type FakeScript, script } from "../../support/fake-upstream.js";
import { type GatewayProcess, OPERATOR_KEY, startGateway } from "../../support/gateway-process.js";
import { Management } from "../../support/management.js";
import { startWorld, type World } from "../../support/world.js";

let world: World;
/** A gateway with no upstream of its own, which serves the built-in stand-in. */
let standIn: GatewayProcess;
let standInSecret: string;
let clients: { readonly fake: Client; readonly sim: Client };

beforeAll(async () => {
  world = await startWorld();
  standIn = await startGateway();
  const management = new Management(standIn);
  await management.account("acme", 0n);
  standInSecret = (await management.makeKey("acme")).secret;
  const service = "tollgate.v1.InferenceService";
  clients = { fake: clientOf(service, world.core.grpc), sim: clientOf(service, standIn.grpc) };
});
afterAll(async () => {
  clients.fake.close();
  clients.sim.close();
  await standIn.stop();
  await world.close();
});

type Side = keyof typeof clients;
const SIDES: readonly { readonly side: Side; readonly model: string }[] = [
  { side: "fake", model: "fake-1" },
  { side: "sim", model: "sim-1" },
];

function keyOf(side: Side): Metadata {
  const metadata = new Metadata();
  metadata.set("authorization", `Bearer ${side === "fake" ? world.secret : standInSecret}`);
  return metadata;
}

function unary(side: Side, name: string, request: object, options: object = {}): Promise<Json> {
  const method: DynamicUnary = Reflect.get(clients[side], name);
  return new Promise((resolve, reject) => {
    method.call(clients[side], request, keyOf(side), options, (error, answer) =>
      error ? reject(error) : resolve(answer),
    );
  });
}

interface Streamed {
  readonly events: Json[];
  readonly head: Metadata | undefined;
  readonly error: ServiceError | undefined;
}

/** Reads a stream to its end; `heard` sees each batch and may cancel. */
async function stream(
  side: Side,
  request: object,
  options: object = {},
  heard?: (call: DynamicStream) => void,
): Promise<Streamed> {
  const open: (request: object, metadata: Metadata, options: object) => DynamicStream = Reflect.get(
    clients[side],
    "StreamGenerate",
  );
  const call = open.call(clients[side], request, keyOf(side), options);
  const events: Json[] = [];
  let head: Metadata | undefined;
  const error = await new Promise<ServiceError | undefined>((resolve) => {
    call.on("metadata", (metadata) => (head = metadata));
    call.on("data", (message) => {
      events.push(...(message["events"] as Json[]));
      heard?.(call);
    });
    call.on("error", resolve);
    call.on("end", () => resolve(undefined));
  });
  return { events, head, error };
}

const user = (text: string): object => ({ role: "ROLE_USER", parts: [{ text: { text } }] });
const generation = (model: string, text: string, more: object = {}): object => ({
  generation: { model, prompt: { messages: [user(text)], ...more } },
});
const steer = (fake: FakeScript): string => script(fake);
const kinds = (events: readonly Json[]): string[] => events.map((event) => String(event["kind"]));
const textOf = (events: readonly Json[], candidate = 0): string =>
  events
    .map((event) => event["text"] as { candidate: number; text: string } | null)
    .filter((text) => text?.candidate === candidate)
    .map((text) => text?.text ?? "")
    .join("");
const textOfAnswer = (answer: Json, candidate = 0): unknown =>
  Reflect.get(Object((answer as { answer: { candidates: Json[] } }).answer.candidates[candidate]), "message");

describe.each(SIDES)("a typed prompt to $model", ({ side, model }) => {
  test("is answered whole, with usage", async () => {
    const answer = await unary(side, "Generate", generation(model, "Say hello."));
    expect(answer["answer"]).toMatchObject({
      candidates: [{ index: 0, finish_reason: "FINISH_REASON_END", message: { role: "ROLE_ASSISTANT" } }],
      usage_source: "USAGE_SOURCE_REPORTED",
      cost_nanos: side === "fake" ? "500" : "0",
    });
    expect(JSON.stringify(textOfAnswer(answer))).toMatch(
      side === "fake" ? /Hello from fake-1\./ : /You said: Say hello\./,
    );
  });

  test("is answered as events that begin with a start and end with exactly one finish", async () => {
    const { events, head, error } = await stream(side, generation(model, "Say hello."));
    expect(error).toBeUndefined();
    const told = kinds(events);
    expect(told[0]).toBe("start");
    expect(told.filter((kind) => kind === "start")).toHaveLength(1);
    expect(told.slice(-2)).toEqual(["candidate_end", "finish"]);
    expect(told.filter((kind) => kind === "finish")).toHaveLength(1);
    expect(events.at(-1)?.["finish"]).toMatchObject({ usage_source: "USAGE_SOURCE_REPORTED" });
    expect(head?.get("x-request-id")[0]).toMatch(/^req_/);
    expect(head?.get("x-tollgate-upstream")[0]).toBe(side);
    const whole = await unary(side, "Generate", generation(model, "Say hello."));
    expect(JSON.stringify(textOfAnswer(whole))).toContain(JSON.stringify(textOf(events)));
  });

  test("with n answers, each candidate ends once, and there is one finish", async () => {
    const asked = generation(model, "Say hello.", { candidate_count: 3 });
    const { events } = await stream(side, asked);
    const ends = events.filter((event) => event["kind"] === "candidate_end").map((event) => event["candidate_end"]);
    expect(ends.map((end) => Reflect.get(Object(end), "candidate"))).toEqual(expect.arrayContaining([0, 1, 2]));
    expect(ends).toHaveLength(3);
    expect(kinds(events).filter((kind) => kind === "finish")).toHaveLength(1);
    for (const candidate of [0, 1, 2]) expect(textOf(events, candidate)).not.toBe("");
    const whole = (await unary(side, "Generate", asked)) as { answer: { candidates: Json[] } };
    expect(whole.answer.candidates.map((candidate) => candidate["index"])).toEqual([0, 1, 2]);
  });

  test("with a tool, the model calls it, and reads its result in the next turn", async () => {
    const tools = [{ function: { name: "weather", parameters_json: '{"type":"object","properties":{}}' } }];
    const calls = [{ name: "weather", arguments: '{"city":"Ålesund"}' }];
    const asked = side === "fake" ? steer({ calls, finish: "tool_calls" }) : "Call weather now.";
    const { events } = await stream(side, generation(model, asked, { tools }));
    const start = events.find((event) => event["kind"] === "tool_call_start")?.["tool_call_start"] as Json;
    expect(start).toMatchObject({ candidate: 0, index: 0, name: "weather", custom: false });
    const told = events.map((event) => Reflect.get(Object(event["tool_call_delta"]), "arguments") ?? "").join("");
    expect(JSON.parse(told)).toBeTypeOf("object");
    expect(events.at(-2)?.["candidate_end"]).toMatchObject({ reason: "FINISH_REASON_TOOL_CALLS" });
    const whole = await unary(side, "Generate", generation(model, asked, { tools }));
    expect(JSON.stringify(textOfAnswer(whole))).toContain(JSON.stringify(told));

    const call = { id: start["id"], name: "weather", arguments: told };
    const next = [
      user("How is the weather?"),
      { role: "ROLE_ASSISTANT", parts: [{ tool_call: call }] },
      { role: "ROLE_TOOL", parts: [{ tool_result: { call_id: start["id"], parts: [{ text: { text: "blue" } }] } }] },
    ];
    const second = await unary(side, "Generate", { generation: { model, prompt: { messages: next, tools } } });
    expect(second["answer"]).toMatchObject({ candidates: [{ finish_reason: "FINISH_REASON_END" }] });
  });

  test("counts its tokens and estimates its cost, and neither generates nor costs", async () => {
    const before = world.upstream.requests.length;
    const counted = await unary(side, "CountTokens", generation(model, "Say hello."));
    expect(Number(counted["input_tokens"])).toBeGreaterThan(2);
    expect(Number(counted["input_tokens"])).toBeLessThan(30);
    const estimate = await unary(side, "EstimateCost", generation(model, "Say hello.", { candidate_count: 2 }));
    expect(estimate).toMatchObject({
      model,
      upstream: side,
      admitted: true,
      input_tokens: counted["input_tokens"],
    });
    if (side === "fake") {
      expect(estimate["output_tokens_max"]).toBe("2000");
      expect(estimate["least_cost_nanos"]).toBe(String(10 * Number(counted["input_tokens"])));
      expect(Number(estimate["most_cost_nanos"])).toBeGreaterThan(2_000 * 100);
    } else expect(estimate["most_cost_nanos"]).toBe("0");
    expect(world.upstream.requests.length).toBe(before);
  });
});

test("what is asked for in the typed form reaches the upstream in its own wire", async () => {
  await unary("fake", "Generate", {
    generation: {
      model: "fake-1",
      output_tokens_max: "33",
      prompt: {
        messages: [{ role: "ROLE_SYSTEM", parts: [{ text: { text: "Be brief." } }] }, user("Hello")],
        temperature: 0.5,
        seed: "9007199254740993",
        stop: ["END"],
        logprobs: true,
        top_logprobs: 2,
        logit_bias: { "50256": -100 },
        output_format: { json_schema: { name: "city", schema_json: '{"type":"object"}', strict: true } },
      },
    },
  });
  const arrived = world.upstream.requests.at(-1);
  expect(arrived?.body).toMatchObject({
    model: "fake-1",
    max_tokens: 33,
    messages: [
      { role: "system", content: "Be brief." },
      { role: "user", content: "Hello" },
    ],
    temperature: 0.5,
    stop: ["END"],
    logprobs: true,
    top_logprobs: 2,
    logit_bias: { "50256": -100 },
    response_format: { type: "json_schema", json_schema: { name: "city", schema: { type: "object" }, strict: true } },
  });
  expect(arrived?.raw.toString()).toContain('"seed":9007199254740993');
});

test("log probabilities come typed, whole and streamed", async () => {
  const token = { token: "Hi", logprob: -0.25, bytes: [72, 105], top_logprobs: [] };
  const choice = {
    index: 0,
    message: { role: "assistant", content: "Hi" },
    logprobs: { content: [token] },
    finish_reason: "stop",
  };
  const whole = JSON.stringify({ id: "c", object: "chat.completion", created: 1, model: "m", choices: [choice] });
  const answer = (await unary(
    "fake",
    "Generate",
    generation("fake-1", steer({ body: whole }), { logprobs: true }),
  )) as {
    answer: { candidates: Json[] };
  };
  expect(answer.answer.candidates[0]?.["logprobs"]).toMatchObject({ content: [{ token: "Hi", logprob: -0.25 }] });
  const { message: _, ...rest } = choice;
  const chunk = {
    id: "c",
    object: "chat.completion.chunk",
    created: 1,
    model: "m",
    choices: [{ ...rest, delta: { content: "Hi" } }],
  };
  const streamText = `data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`;
  const { events } = await stream("fake", generation("fake-1", steer({ streamText }), { logprobs: true }));
  const told = events.find((event) => event["kind"] === "logprobs")?.["logprobs"];
  expect(told).toMatchObject({ candidate: 0, content: [{ token: "Hi", logprob: -0.25 }] });
  expect(kinds(events).filter((kind) => kind === "finish")).toHaveLength(1);
});

test("fields without a typed home go along, and are held for", async () => {
  const fields = { "x-own": "y".repeat(5_000) };
  const extra = { wire: "openai-chat", json: JSON.stringify(fields) };
  await unary("fake", "Generate", generation("fake-1", "Hello", { extra }));
  const arrived = world.upstream.requests.at(-1)?.body;
  expect(arrived).toMatchObject({ model: "fake-1", max_tokens: 1_000, ...fields });
  const { body } = await world.management.call("GET", "/requests?page_size=1");
  const [record] = body["requests"] as Json[];
  expect(BigInt(String(record?.["hold_nanos"])) > 5_000n * 10n + 1_000n * 100n).toBe(true);
});

test.each([{ model: "other-1" }, { n: 50 }, { max_tokens: 90_000 }, { max_completion_tokens: 9 }, { stream: true }])(
  "a field that the gateway writes is refused there: %j",
  async (fields) => {
    const extra = { wire: "openai-chat", json: JSON.stringify(fields) };
    const sentBefore = world.upstream.requests.length;
    const failed = unary("fake", "Generate", generation("fake-1", "Hello", { extra }));
    await expect(failed).rejects.toMatchObject({ code: status.INVALID_ARGUMENT });
    expect(world.upstream.requests).toHaveLength(sentBefore);
  },
);

describe("a call that ends before its answer", () => {
  test.each([
    { name: "a deadline in a stream", fake: { words: 900, eventDelayMs: 20 }, streamed: true },
    { name: "a deadline in a silent stream", fake: { hang: true }, streamed: true },
    { name: "a deadline in a whole answer", fake: { hang: true }, streamed: false },
  ])("by $name reaches the upstream", async ({ name, fake, streamed }) => {
    const asked = generation("fake-1", steer(fake), { user: name });
    const options = { deadline: Date.now() + 1_000 };
    const failed = streamed
      ? (await stream("fake", asked, options)).error
      : await unary("fake", "Generate", asked, options).catch((error: ServiceError) => error);
    expect(failed).toMatchObject({ code: status.DEADLINE_EXCEEDED });
    await world.upstream.waitFor((request) => request.left && request.raw.includes(`"${name}"`));
    await expect.poll(async () => (await world.management.balance("acme")).heldNanos).toBe(0n);
  });

  test("by a cancellation in a stream reaches the upstream", async () => {
    const asked = generation("fake-1", steer({ words: 900, eventDelayMs: 20 }), { user: "cancelled" });
    const { events, error } = await stream("fake", asked, {}, (call) => call.cancel());
    expect(error).toMatchObject({ code: status.CANCELLED });
    expect(kinds(events)).not.toContain("finish");
    await world.upstream.waitFor((request) => request.left && request.raw.includes('"cancelled"'));
    await expect.poll(async () => (await world.management.balance("acme")).heldNanos).toBe(0n);
  });

  test("by an error of the upstream has no finish", async () => {
    const { events, error } = await stream("fake", generation("fake-1", steer({ words: 9, errorAfter: 5 })));
    expect(error).toMatchObject({ code: status.UNAVAILABLE });
    expect(kinds(events)).not.toContain("finish");
    expect(textOf(events)).toContain("word0");
    await world.management.call("POST", "/upstreams/fake:reset", {});
  });
});

test.each([
  {
    name: "more tools than a body may have",
    prompt: { messages: [user("x")], tools: Array.from({ length: 2_001 }, () => ({})) },
    param: "tools",
  },
  { name: "no message", prompt: { messages: [] }, param: "messages" },
  { name: "no role", prompt: { messages: [{ parts: [{ text: { text: "x" } }] }] }, param: "role" },
  { name: "a part of no kind", prompt: { messages: [{ role: "ROLE_USER", parts: [{}] }] }, param: "messages" },
  { name: "too hot", prompt: { messages: [user("x")], temperature: 3 }, param: "temperature" },
])("a prompt with $name is refused, and leaves no trace", async ({ prompt, param }) => {
  const before = await world.management.newestEntry("acme");
  const refused = unary("fake", "Generate", { generation: { model: "fake-1", prompt } });
  await expect(refused).rejects.toMatchObject({
    code: status.INVALID_ARGUMENT,
    details: expect.stringContaining(param),
  });
  expect(await world.management.newestEntry("acme")).toEqual(before);
});

describe("what any client finds at the real process", () => {
  test("health, of the whole and of each service", async () => {
    const health = clientOf("grpc.health.v1.Health", standIn.admin);
    const check: DynamicUnary = Reflect.get(health, "Check");
    for (const service of ["", "tollgate.v1.InferenceService", "tollgate.v1.AccountService"]) {
      const answer = await new Promise<Json>((resolve, reject) => {
        check.call(health, { service }, new Metadata(), {}, (error, told) => (error ? reject(error) : resolve(told)));
      });
      expect(answer["status"]).toBe("SERVING");
    }
    health.close();
  });

  test.each(["v1", "v1alpha"])("reflection %s, without a key", async (version) => {
    const client = clientOf(`grpc.reflection.${version}.ServerReflection`, standIn.admin);
    const open: () => DynamicStream & { write(message: object): void; end(): void } = Reflect.get(
      client,
      "ServerReflectionInfo",
    );
    const call = open.call(client);
    const answers: Json[] = [];
    const ended = new Promise<void>((resolve, reject) => {
      call
        .on("data", (message) => answers.push(message))
        .on("error", reject)
        .on("end", resolve);
    });
    call.write({ list_services: "*" });
    call.write({ file_containing_symbol: "tollgate.v1.InferenceService" });
    call.end();
    await ended;
    client.close();
    expect(JSON.stringify(answers[0])).toContain("tollgate.v1.InferenceService");
    expect(answers[1]).toHaveProperty("file_descriptor_response.file_descriptor_proto.0");
  });

  test("the operator's key works on every service, over x-api-key as well", async () => {
    const client = clientOf("tollgate.v1.ModelService", standIn.grpc);
    const list: DynamicUnary = Reflect.get(client, "ListModels");
    const metadata = new Metadata();
    metadata.set("x-api-key", OPERATOR_KEY);
    const answer = await new Promise<Json>((resolve, reject) => {
      list.call(client, {}, metadata, {}, (error, told) => (error ? reject(error) : resolve(told)));
    });
    client.close();
    expect(answer["models"]).toMatchObject([
      { id: "sim-1" },
      { id: "sim-embed-1" },
      { id: "sim-moderation-1" },
      { id: "sim-rerank-1" },
      { id: "sim-speech-1" },
    ]);
  });
});

test("leaves ledgers that hold", async () => {
  await world.management.verify();
  await new Management(standIn).verify();
});
