/** Long answers, read beside the event loop: what is told and written of them is what the loop itself would make. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterAll, describe, expect, test } from "vitest";
import type { Event } from "../../src/api/index.js";
import { asBuffer } from "../../src/base/bytes/bytes.js";
import { foldEvents } from "../../src/api/answer-fold.js";
import { GatewayError } from "../../src/base/errors.js";
import { families } from "../../src/families/index.js";
import { createLongAnswers } from "../../src/reading/long-answers.js";
import { clientWires, embeddingWires } from "../../src/reading/readers.js";
import { askerOf } from "../../src/reading/reading-thread.js";
import type { Asker } from "../../src/wire/answer/long-answer.js";
import { unreadable } from "../../src/wire/error/refusals.js";
import { isLongAnswer, LONG_BODY_BYTES } from "../../src/wire/json/weight.js";
import type { AnswerForm, AnswerOrder, DecodedAnswer, WireRequest } from "../../src/wire/wire.js";
import { WORST_ANSWERS } from "../bench/worst-answers.mjs";
import { bySweep } from "../support/sweep.js";
import { CREATED, FINISH, isClientWire, requestOf, sourceOf } from "./wire-requests.js";

const reader = createLongAnswers();
afterAll(() => reader.close());

const FAMILY: Readonly<Record<string, string>> = {
  "openai-chat": "openai-compatible",
  "openai-responses": "openai-responses",
  "openai-completions": "openai-compatible",
  "openai-embeddings": "openai-compatible",
  anthropic: "anthropic",
  gemini: "gemini",
  "bedrock-converse": "bedrock",
};
const KINDS: Readonly<Record<string, "completion" | "embedding">> = {
  "openai-completions": "completion",
  "openai-embeddings": "embedding",
};
/** Little more than the loop reads. */
const BYTES = LONG_BODY_BYTES + 10_000;
/** The thread reads what is shorter just so: in a short run one shape in five has the whole length. */
const SHORTER_BYTES = bySweep({ short: 16 * 1024, long: BYTES, all: BYTES });

function onLoop(wire: string, body: Buffer, asked: WireRequest, form: AnswerForm): DecodedAnswer {
  const family = families.find(({ name }) => name === FAMILY[wire]);
  const kind = KINDS[wire];
  const endpoint = kind === undefined ? family : family?.endpoints?.[kind];
  if (endpoint === undefined) throw new Error(wire);
  try {
    return endpoint.wire.decodeAnswer(body, asked, form);
  } catch (error) {
    throw unreadable(error);
  }
}

function orderOf(wire: string, asked: WireRequest, more: Pick<AnswerOrder, "form" | "tellsSteps">): AnswerOrder {
  const { facts, source, embedding } = asked;
  if (source === undefined) throw new Error("no source");
  const kind = KINDS[wire] ?? "chat";
  const vectors = embedding && { encoding: embedding.encoding, dimensions: embedding.dimensions };
  const family = FAMILY[wire] ?? "";
  return { family, kind, toldModel: undefined, facts, asked: source, embedding: vectors, ...more };
}

const ACME = (): Asker => askerOf("acme");

const shared = (body: Buffer): Buffer => {
  const bytes = asBuffer(new Uint8Array(new SharedArrayBuffer(body.length)));
  body.copy(bytes);
  return bytes;
};

async function outcome<Value>(make: () => Promise<Value> | Value): Promise<Value | GatewayError> {
  try {
    return await make();
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
}

function finished(events: readonly Event[]): Event[] {
  return [...events, { kind: { $case: "finish", value: FINISH } }];
}

/** The wire of the client that asks, where it is not the upstream's own. */
function otherWireOf(wire: string): string {
  if (KINDS[wire] !== undefined) return wire;
  return wire === "anthropic" ? "openai-chat" : "anthropic";
}

const WHOLE = WORST_ANSWERS.filter(({ stream }) => !stream).map((answer, place) => {
  // Of so many odds the steps are too many.
  const isWhole = place % 5 === 0 || answer.name.includes("odds");
  return { name: answer.name, wire: answer.wire, body: answer.body, bytes: isWhole ? BYTES : SHORTER_BYTES };
});

describe.each(WHOLE)("$name", ({ name, wire, body: made, bytes }) => {
  const body = made(bytes);
  const kept = shared(body);

  test("is told in its own wire as the loop tells it", async () => {
    expect(isLongAnswer(made(BYTES))).toBe(true);
    if (!isClientWire(wire)) return;
    const asked = requestOf(sourceOf(wire));
    const form = wire === "openai-chat" ? "fitted" : "source";
    const want = await outcome(() => onLoop(wire, body, asked, form));
    const got = await outcome(() => reader.read(kept, orderOf(wire, asked, { form, tellsSteps: false }), ACME()));
    if (want instanceof GatewayError)
      return expect(got).toMatchObject({ reason: want.reason, metadata: want.metadata });
    if (got instanceof GatewayError) throw got;
    expect(got.source.equals(want.source ?? body)).toBe(true);
    const { made: madeOf, usage, complete, text, servedModel, nonTextTokens = 0, toolUses } = want.report;
    expect(got.report).toMatchObject({ made: madeOf, usage, complete, servedModel, nonTextTokens });
    expect([got.report.text === text, got.report.toolUses]).toEqual([true, toolUses]);
  });

  test("is told to a client of another wire as the loop tells it", async () => {
    const other = otherWireOf(wire);
    const asked = requestOf(sourceOf(other));
    const tell = (tellsSteps: boolean): AnswerOrder => orderOf(wire, asked, { form: "events", tellsSteps });
    const want = await outcome(() => {
      const answer = onLoop(wire, body, asked, "events");
      return { events: answer.events(), vectors: answer.embeddings?.() };
    });
    const steps = await outcome(() => reader.read(kept, tell(true), ACME()));
    const whole = await outcome(() => reader.read(kept, tell(false), ACME()));
    if (want instanceof GatewayError) {
      const refused = { reason: want.reason, metadata: want.metadata };
      expect([steps, whole]).toMatchObject([refused, refused]);
      return;
    }
    if (whole instanceof GatewayError) throw whole;
    const answer = foldEvents(finished(want.events));
    // An object for each of so many tokens would be too much where steps are told one by one.
    if (steps instanceof GatewayError && name.includes("completions, whole: odds"))
      return expect(steps.metadata["problem"]).toBe("its answer has too many steps");
    if (steps instanceof GatewayError) throw steps;
    const told = foldEvents(finished([...steps.steps].flat()));
    answer.createTime ??= CREATED;
    told.createTime ??= CREATED;
    // Some upstreams name no answer, and each reading makes a name up.
    if (wire === "bedrock-converse") expect([answer.id, told.id]).toEqual([expect.any(String), expect.any(String)]);
    if (wire === "bedrock-converse") told.id = answer.id;
    expect(JSON.stringify(told, plain)).toBe(JSON.stringify(answer, plain));
    const written = await whole.write(other, FINISH, CREATED);
    if (wire === "bedrock-converse") answer.id = String((JSON.parse(written.toString()) as { id: string }).id);
    expect(written.equals(encoded(other, answer, want.vectors, asked))).toBe(true);
  });
});

function encoded(
  wire: string,
  answer: ReturnType<typeof foldEvents>,
  vectors: ReturnType<NonNullable<DecodedAnswer["embeddings"]>> | undefined,
  asked: WireRequest,
): Buffer {
  const embeddings = embeddingWires.get(wire);
  if (embeddings === undefined) return clientWires.get(wire)?.encodeAnswer(answer, () => asked) ?? Buffer.alloc(0);
  const { model, usage, costNanos } = answer;
  return embeddings.encodeAnswer(
    { embeddings: [...(vectors ?? [])], model, usage, costNanos, source: Buffer.alloc(0) },
    asked,
  );
}

function plain(_name: string, value: unknown): unknown {
  if (typeof value === "bigint") return `${value}n`;
  return value instanceof Uint8Array ? Buffer.from(value).toString("base64") : value;
}

test("an answer of more values than are read anywhere is the upstream's failure, and the thread goes on", async () => {
  const asked = requestOf(sourceOf("openai-chat"));
  const order = orderOf("openai-chat", asked, { form: "source", tellsSteps: false });
  const body = shared(Buffer.from(`{"choices":[{"message":{"content":"a"}}],"x":[${"[],".repeat(3_000_000)}0]}`));
  await expect(reader.read(body, order, ACME())).rejects.toMatchObject({ reason: "ERROR_REASON_UPSTREAM_FAILED" });
  const short = shared(Buffer.from('{"choices":[{"message":{"content":"a"},"finish_reason":"stop"}]}'));
  expect((await reader.read(short, order, ACME())).report.text).toBe("a");
});

test("the loop turns while a long answer is read", async () => {
  const asked = requestOf(sourceOf("anthropic"));
  const order = orderOf("openai-chat", asked, { form: "events", tellsSteps: false });
  const text = "long ".repeat(1024 * 1024);
  const body = shared(Buffer.from(`{"choices":[{"message":{"content":"${text}"},"finish_reason":"stop"}]}`));
  let turns = 0;
  const life = { isOver: false };
  const reading = reader.read(body, order, ACME()).then(async (answer) => {
    const written = await answer.write("anthropic", FINISH, CREATED);
    life.isOver = true;
    return written.length;
  });
  while (!life.isOver) {
    await nextTurn();
    turns += 1;
  }
  expect(await reading).toBeGreaterThan(text.length);
  expect(turns).toBeGreaterThan(100);
});

/** Takes the thread far longer than the moment that it is given. */
const LONG = shared(
  Buffer.from(
    `{"choices":[{"message":{"content":"a","x":[${'{"a":"b"},'.repeat(1_500_000)}0]},"finish_reason":"stop"}]}`,
  ),
);
const SHORT = shared(Buffer.from('{"choices":[{"message":{"content":"a"},"finish_reason":"stop"}]}'));
const chatOrder = (): AnswerOrder =>
  orderOf("openai-chat", requestOf(sourceOf("openai-chat")), { form: "events", tellsSteps: false });
const over = (account: string, afterMs = 1): Asker => ({ account, endMs: performance.now() + afterMs });
const LATE = { reason: "ERROR_REASON_UPSTREAM_TIMEOUT", metadata: { phase: "total" } };

test("nothing is read or written for a request that is over, and the next of another account is", async () => {
  const late = reader.read(LONG, chatOrder(), over("acme"));
  // It waits behind the one above.
  const waiting = reader.read(SHORT, chatOrder(), over("acme"));
  const next = reader.read(SHORT, chatOrder(), askerOf("globex"));
  await Promise.all([late, waiting].map((one) => expect(one).rejects.toMatchObject(LATE)));
  expect((await next).report.text).toBe("a");
  expect(reader.waiting()).toBe(0);
});

const PARTS = bySweep({ short: 5, long: 20, all: 20 });

test("whose time is over at any part of a millisecond is late, and its upstream did nothing wrong", async () => {
  const outcomes = new Set<string>();
  for (let part = 0; part < PARTS; part++) {
    const refusal = await outcome(() => reader.read(LONG, chatOrder(), over("acme", 2 + part / PARTS)));
    outcomes.add(refusal instanceof GatewayError ? refusal.reason : "read");
  }
  expect([...outcomes]).toEqual([LATE.reason]);
});

test("what is read in time and is over when it is to be written is not written", async () => {
  const asker = { account: "acme", endMs: performance.now() + 60_000 };
  const answer = await reader.read(SHORT, chatOrder(), asker);
  asker.endMs = performance.now();
  await expect(answer.write("anthropic", FINISH, CREATED)).rejects.toMatchObject(LATE);
});

test("an answer that takes the thread too long is its upstream's failure", async () => {
  const hurried = createLongAnswers(1);
  const reading = hurried.read(LONG, chatOrder(), ACME());
  await expect(reading).rejects.toMatchObject({
    reason: "ERROR_REASON_UPSTREAM_FAILED",
    metadata: { problem: "its answer takes too much to read" },
  });
  await hurried.close();
});
