/** What the end of a stream repeats is bounded, for one key and for all, and given back however its answer ends. */
import { afterEach, describe, expect, test } from "vitest";
import { ByteBudget, OF_STREAM_ENDS } from "../../src/base/bytes/byte-budget.js";
import { type Event, type StreamGenerateResponse, UsageSource } from "../../src/api/index.js";
import { openai } from "../../src/formats/openai.js";
import { openaiResponses } from "../../src/formats/openai-responses.js";
import { StreamedAnswer, streamEndMemory } from "../../src/http/streamed-answer.js";
import { startServer, type TestServer, until } from "../support/http-server.js";
import { RawClient, rawPost } from "../support/raw-http.js";

const MIB = 1024 * 1024;
const STREAM = { "tollgate-form": "stream", "x-request-id": "req_1" };
const BODY = JSON.stringify({ model: "m", input: "Hi", stream: true });
const SOURCE = { wire: openaiResponses.wire.name, body: Buffer.from(BODY), headers: {} };
const FINISH: Event = {
  kind: { $case: "finish", value: { usage: undefined, usageSource: UsageSource.USAGE_SOURCE_NONE, costNanos: 0n } },
};
const OVERLOADED = { reason: "ERROR_REASON_OVERLOADED", retryAfterMs: 1_000 };

/** Text that is kept in so many bytes, an even number: the end of a response repeats it, and it has room to grow. */
function say(keptBytes: number): Event {
  return { kind: { $case: "text", value: { candidate: 0, text: "x".repeat(keptBytes / 2) } } };
}

function batch(...events: Event[]): StreamGenerateResponse {
  return { events, source: Buffer.alloc(0) };
}

function answerOf(budget: ByteBudget, holder = "key"): StreamedAnswer {
  return new StreamedAnswer(openaiResponses, SOURCE, budget, holder);
}

describe("what the end of a stream repeats", () => {
  test("is taken as it grows, refused beyond the memory, and given back at the end", () => {
    const budget = new ByteBudget(1_000, OF_STREAM_ENDS);
    const [first, second] = [answerOf(budget), answerOf(budget, "another")];
    first.push(batch(say(400)));
    first.push(batch(say(200)));
    expect(budget.used).toBe(600);
    expect(() => second.push(batch(say(402)))).toThrow(expect.objectContaining(OVERLOADED));
    expect(budget.used).toBe(600);
    expect(() => first.push(batch(say(402)))).toThrow(expect.objectContaining(OVERLOADED));
    first.end();
    second.end();
    expect(budget.used).toBe(0);
  });

  test("is given back once, and what is told behind the end takes nothing", () => {
    const budget = new ByteBudget(1_000, OF_STREAM_ENDS);
    const [answer, other] = [answerOf(budget), answerOf(budget)];
    other.push(batch(say(100)));
    answer.push(batch(say(300)));
    answer.end();
    answer.end();
    answer.push(batch(say(2_000)));
    expect(budget.used).toBe(100);
  });

  test.each([
    { name: "of a format whose end repeats nothing", format: openai, message: batch(say(2_000)) },
    {
      name: "of a client's own wire, which is passed on",
      format: openaiResponses,
      message: { events: [say(2_000)], source: Buffer.from("data: {}\n\n") },
    },
  ])("$name is nothing", ({ format, message }) => {
    const budget = new ByteBudget(1_000, OF_STREAM_ENDS);
    const body = Buffer.from(JSON.stringify({ model: "m", messages: [{ role: "user", content: "Hi" }], stream: true }));
    new StreamedAnswer(format, { ...SOURCE, wire: format.wire.name, body }, budget, "key").push(message);
    expect(budget.used).toBe(0);
  });

  test("has 256 MiB in all, and a quarter of it for one key", () => {
    const budget = streamEndMemory();
    for (const holder of ["a", "b", "c", "d"]) {
      budget.take(holder, 64 * MIB);
      expect(() => budget.take(holder, 1)).toThrow(expect.objectContaining(OVERLOADED));
    }
    expect(() => budget.take("e", 1)).toThrow(expect.objectContaining(OVERLOADED));
  });
});

describe("over HTTP", () => {
  let it: TestServer | undefined;
  let client: RawClient | undefined;
  afterEach(async () => {
    client?.socket.destroy();
    await it?.close();
  });

  async function ask(kept: ByteBudget, script: TestServer["channel"]["streamScript"]): Promise<RawClient> {
    it = await startServer({ formats: [openaiResponses], kept });
    it.channel.streamScript = script;
    client = await RawClient.open(it.port);
    client.write(rawPost("/v1/responses", BODY));
    return client;
  }

  test.each([
    { name: "is whole", second: 400, end: "response.completed" },
    { name: "finds no room any more", second: 402, end: '"code":"overloaded"' },
  ])("an answer that $name gives back what it took", async ({ second, end }) => {
    const budget = new ByteBudget(1_000, OF_STREAM_ENDS);
    let used = 0;
    const reader = await ask(budget, (_request, sink) => {
      sink.head(STREAM);
      sink.data(batch(say(600)));
      used = budget.used;
      sink.data(batch(say(second)));
      sink.data(batch(FINISH));
    });
    await until(() => reader.text.endsWith("0\r\n\r\n"), "the end of the stream");
    expect(used).toBe(600);
    expect(reader.text).toContain(end);
    await until(() => budget.used === 0, "the room is back");
  });

  test.each([
    { name: "before the first batch", before: [] },
    { name: "between two batches", before: [batch(say(300))] },
  ])("a reader that leaves $name leaves nothing taken", async ({ before }) => {
    const budget = new ByteBudget(1_000, OF_STREAM_ENDS);
    let isOver = false;
    const reader = await ask(budget, async (_request, sink, { signal }) => {
      const left = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      sink.head(STREAM);
      for (const message of before) sink.data(message);
      reader.socket.destroy();
      await left;
      // What was on its way as the reader left.
      sink.data(batch(say(400)));
      isOver = true;
    });
    await until(() => isOver, "the call is over");
    await until(() => budget.used === 0, "the room is back");
  });
});
