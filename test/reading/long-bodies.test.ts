/** Long bodies, read beside the event loop: what is known and written of them is what the loop itself would make. */
import { afterAll, describe, expect, test } from "vitest";
import { EmbedRequest } from "../../src/api/index.js";
import { TYPED_TEXTS } from "../../src/api/typed-form.js";
import { GatewayError } from "../../src/base/errors.js";
import { typedEmbedding } from "../../src/gateway/typed-embedding.js";
import { families } from "../../src/families/index.js";
import { endpointFor } from "../../src/families/family.js";
import { countReadable } from "../../src/pricing/request-tokens.js";
import { closeTokenCounter } from "../../src/pricing/tokens.js";
import { createLongBodies } from "../../src/reading/long-bodies.js";
import { readers } from "../../src/reading/readers.js";
import { TargetPermits } from "../../src/routing/permits.js";
import { bodyFor } from "../../src/routing/upstream-request.js";
import { createOutlines } from "../../src/reading/outlines.js";
import { outlined } from "../../src/wire/request/outline.js";
import { isLongBody, LONG_BODY_BYTES } from "../../src/wire/json/weight.js";
import type { SourceBody, WireRequest } from "../../src/wire/wire.js";
import { FREE } from "../pricing/prices.js";
import { WORST_CASES } from "../bench/worst-cases.mjs";
import { bySweep } from "../support/sweep.js";

const longBodies = createLongBodies();
afterAll(async () => {
  await longBodies.close();
  await closeTokenCounter();
});

const HEADERS = { "x-tollgate-path-model": "m" };
const TEXT = "It is long, and it is exact. ".repeat(20_000);
const tool = (name: string): object => ({ type: "function", function: { name, parameters: { type: "object" } } });
const BODIES = [
  { wire: "openai-chat", body: { model: "m", messages: [{ role: "user", content: TEXT }], tools: [tool("a.b")] } },
  {
    wire: "openai-chat",
    body: { model: "m", messages: Array.from({ length: 1_500 }, () => ({ role: "user", content: "hi" })) },
  },
  { wire: "openai-responses", body: { model: "m", instructions: "Be brief.", input: TEXT, tools: [] } },
  { wire: "anthropic", body: { model: "m", max_tokens: 9, messages: [{ role: "user", content: TEXT }] } },
  { wire: "gemini", body: { contents: [{ role: "user", parts: [{ text: TEXT }] }] } },
  { wire: "openai-completions", body: { model: "m", prompt: TEXT } },
];
const EMBEDDING = {
  wire: "openai-embeddings",
  body: { model: "m", input: [TEXT, "short"], encoding_format: "base64" },
};

function valuesOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 1;
  return Object.values(value).reduce<number>((sum, item) => sum + valuesOf(item), 1);
}

const sourceOf = ({ wire, body }: { readonly wire: string; readonly body: object }): SourceBody => ({
  wire,
  body: Buffer.from(JSON.stringify(body)),
  headers: HEADERS,
});

function onLoop(source: SourceBody): WireRequest {
  const reader = readers.get(source.wire);
  if (reader === undefined) throw new Error(source.wire);
  return reader.readRequest(source);
}

const outcome = async (make: () => Promise<unknown> | unknown): Promise<unknown> => {
  try {
    return await make();
  } catch (error) {
    if (error instanceof GatewayError) return { reason: error.reason, metadata: error.metadata };
    throw error;
  }
};

describe.each(BODIES)("a long body of $wire", (row) => {
  const source = sourceOf(row);
  const direct = onLoop(source);
  const read = (): Promise<WireRequest> => longBodies.read(source, "generate", "acme");

  test("has the same facts, and is kept where no thread copies it", async () => {
    const request = await read();
    expect(request.facts).toEqual(direct.facts);
    expect(request.source?.body.equals(source.body)).toBe(true);
    expect(request.source?.body.buffer).toBeInstanceOf(SharedArrayBuffer);
    expect(request.outline?.source?.body.length).toBeLessThan(2_000);
    expect(request.outline?.facts).toEqual(direct.facts);
  });

  test.each(families.filter(({ name }) => name !== "sim"))(
    "is written for $name as the loop writes it",
    async (family) => {
      const request = await read();
      const target = { model: "x", facts: {} };
      const terms = { price: FREE, knownMembersOnly: false, containers: [] };
      const permits = new TargetPermits(terms);
      const endpoint = endpointFor(family, direct, "chat");
      const cache = { salt: "salt-of-acme", member: endpoint.cacheMember };
      const owned = { model: "x", outputTokensMax: 10, stream: true, candidateCount: 1, cache };
      const want = await outcome(() =>
        bodyFor({ request: direct, target, endpoint, owned, strict: false, permits }, []).toString(),
      );
      const order = { family: family.name, kind: "chat", ...target, owned, strict: false, terms } as const;
      const written = await outcome(async () => (await request.long?.write(order, []))?.toString());
      expect(written).toEqual(want);
    },
  );

  test("counts as the loop counts it", async () => {
    const settled = { account: "acme", lane: "settlement" } as const;
    expect(await countReadable(await read(), "gpt-4o", settled)).toBe(await countReadable(direct, "gpt-4o", settled));
  });
});

test("the calls of a long conversation are known once it is written for another wire", async () => {
  const id = "call_0";
  const call = { id, type: "function", function: { name: "f", arguments: "{}" } };
  const messages = [
    { role: "user", content: TEXT },
    { role: "assistant", tool_calls: [call] },
    { role: "tool", tool_call_id: id, content: "done" },
  ];
  const source = sourceOf({ wire: "openai-chat", body: { model: "m", messages } });
  const request = await longBodies.read(source, "generate", "acme");
  const terms = { price: FREE, knownMembersOnly: false, containers: [] };
  const owned = { model: "x", outputTokensMax: 10, stream: true, candidateCount: 1 };
  const order = { kind: "chat", model: "x", facts: {}, owned, strict: false, terms } as const;
  await request.long?.write({ ...order, family: "openai" }, []);
  expect(request.outline?.callIds).toEqual([]);
  await request.long?.write({ ...order, family: "gemini" }, []);
  expect(request.outline?.callIds).toEqual([id]);
});

test("a long question for vectors keeps its facts, and its answer's encoding", async () => {
  const source = sourceOf(EMBEDDING);
  const request = await longBodies.read(source, "generate", "acme");
  expect(request.facts).toEqual(onLoop(source).facts);
  expect(request.outline?.embedding?.encoding).toBe("base64");
});

test("texts for vectors in the typed form are written and counted as the loop does it", async () => {
  const asked: EmbedRequest = { model: "m", texts: [TEXT, "short"], dimensions: 3, source: undefined, acceptWire: "" };
  const source = { wire: TYPED_TEXTS, body: Buffer.from(EmbedRequest.encode(asked).finish()), headers: {} };
  const direct = typedEmbedding(asked);
  const request = await longBodies.read(source, "generate", "acme");
  expect(request.facts).toEqual(direct.facts);
  expect(request.embedding).toMatchObject({ encoding: "float", dimensions: 3 });
  expect(request.outline?.source?.body.length).toBeLessThan(100);
  const family = families.find(({ name }) => name === "openai-compatible");
  if (family === undefined) throw new Error("the family is gone");
  const owned = { model: "x", outputTokensMax: 0, stream: false, candidateCount: 1 };
  const target = { model: "x", facts: {} };
  const terms = { price: FREE, knownMembersOnly: false, containers: [] };
  const endpoint = endpointFor(family, direct, "embedding");
  const question = { request: direct, target, endpoint, owned, strict: false, permits: new TargetPermits(terms) };
  const order = { family: family.name, kind: "embedding", ...target, owned, strict: false, terms } as const;
  const written = await request.long?.write(order, []);
  expect(written?.equals(bodyFor(question, []))).toBe(true);
  const settled = { account: "acme", lane: "settlement" } as const;
  expect(await countReadable(request, "gpt-4o", settled)).toBe(await countReadable(direct, "gpt-4o", settled));
  const empty = { ...source, body: Buffer.from(EmbedRequest.encode({ ...asked, texts: [] }).finish()) };
  expect(await outcome(() => longBodies.read(empty, "generate", "acme"))).toEqual(
    await outcome(() => typedEmbedding({ ...asked, texts: [] })),
  );
});

test.each([
  { name: "no JSON", body: `{"model":"m","messages":[${" ".repeat(LONG_BODY_BYTES)}`, problem: "not valid JSON" },
  { name: "too many values", body: `{"x":[${"0,".repeat(150_000)}0]}`, problem: "100000 values" },
])("a long body of $name is refused as the loop refuses it", async ({ body, problem }) => {
  const source = { wire: "openai-chat", body: Buffer.from(body), headers: {} };
  const refused = await outcome(() => longBodies.read(source, "generate", "acme"));
  expect(refused).toEqual(await outcome(() => onLoop(source)));
  expect(JSON.stringify(refused)).toContain(problem);
});

test("an outline keeps tools and settings, and only those", () => {
  const tools = [{ type: "function", name: "f" }];
  const brought = { type: "additional_tools", tools: [{ type: "custom", name: "g" }] };
  const input = [{ role: "user", content: TEXT }, brought, { role: "user", content: TEXT }];
  const { body } = outlined(
    sourceOf({ wire: "openai-responses", body: { model: "m", temperature: 0.5, tools, input } }),
  );
  expect(JSON.parse(body.toString())).toEqual({ model: "m", temperature: 0.5, tools, input: [brought] });
});

test.each([1, 4])("what the loop reads has few values, whatever the shape, at a 1/%d of what it takes", (part) => {
  for (const { name, wire, body } of WORST_CASES) {
    const bytes = body("m", LONG_BODY_BYTES / part);
    if (isLongBody(bytes)) continue;
    const valuesMax = { name, values: expect.toSatisfy((values: number) => values < 10_000) as number };
    try {
      onLoop({ wire, body: bytes, headers: HEADERS });
      expect({ name, values: valuesOf(JSON.parse(bytes.toString())) }).toEqual(valuesMax);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
    }
  }
});

/** Longer than the loop reads. */
const OUTLINED_BYTES = bySweep({ short: 2 * LONG_BODY_BYTES, long: 1_500_000, all: 1_500_000 });

test("an outline is short whatever is in it, and readable where its body is", () => {
  for (const { wire, body } of WORST_CASES) {
    const source = { wire, body: body("m", OUTLINED_BYTES), headers: HEADERS };
    try {
      onLoop(source);
    } catch {
      continue;
    }
    expect(onLoop(outlined(source)).facts.model).toBe("m");
  }
});

describe("a front end apart from the service", () => {
  const outlines = createOutlines();
  afterAll(() => outlines.close());

  test.each(BODIES)("has the outline of $wire made by its thread, the same as the loop's", async (row) => {
    const source = sourceOf(row);
    const prepared = await outlines.prepare(source, "key");
    expect(prepared.body.equals(source.body)).toBe(true);
    const outline = outlined(prepared);
    // What the loop makes it makes anew each time.
    expect(outlined(prepared).body).toBe(outline.body);
    expect(outline.body.equals(outlined(source).body)).toBe(true);
  });

  test("leaves a body that is no JSON to the service's refusal", async () => {
    const body = Buffer.from(`{"messages":[${" ".repeat(LONG_BODY_BYTES)}`);
    const prepared = await outlines.prepare({ wire: "openai-chat", body, headers: {} }, "key");
    expect(prepared.body.equals(body)).toBe(true);
  });
});
