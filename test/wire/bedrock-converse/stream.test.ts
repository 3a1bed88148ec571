/** Streams of Converse: the same answer wherever its bytes are cut, and none where they end early. */
import { describe, expect, test } from "vitest";
import type { Event } from "../../../src/api/index.js";
import { createWire } from "../../../src/wire/bedrock-converse/index.js";
import { wire as openAiChat } from "../../../src/wire/openai-chat/index.js";
import { type BedrockScript, messagesOf, USAGE } from "../../support/fake-bedrock.js";

const wire = createWire(() => "answer-1");
const asked = openAiChat.readRequest({
  wire: "openai-chat",
  body: Buffer.from('{"model":"m","messages":[{"role":"user","content":"hi"}]}'),
  headers: {},
});

const FULL: BedrockScript = {
  content: [
    { reasoningContent: { reasoningText: { text: "I think of a bridge: \u{1f309}.", signature: "c2ln" } } },
    { reasoningContent: { redactedContent: "aGlkZGVu" } },
    { text: "Grüße \u{1f30d}, all of you." },
    { toolUse: { toolUseId: "t-1", name: "weather", input: { city: "Åre" } } },
    { toolUse: { toolUseId: "t-2", name: "clock", input: {} } },
  ],
  stopReason: "tool_use",
};

/** What is known once all of these reads came, with neighbouring steps of one kind as one. */
function read(...chunks: readonly Buffer[]): object {
  const decoder = wire.decodeStream(asked.facts, "events", asked);
  const batches = [...chunks.map((chunk) => decoder.push(chunk)), decoder.end()];
  const error = batches.find((batch) => batch.error !== undefined)?.error;
  return { steps: joined(batches.flatMap(({ events }) => events)), error: error?.reason, ...known(decoder.report) };
}

function known({ text, usage, complete }: ReturnType<typeof wire.decodeStream>["report"]): object {
  return { text, usage, complete };
}

function joined(events: readonly Event[]): unknown[] {
  const steps: { kind: string; text: string }[] = [];
  for (const { kind } of events) {
    const piece = pieceOf(kind);
    const last = steps.at(-1);
    if (piece !== undefined && last !== undefined && last.kind === kind?.$case) last.text += piece;
    else if (piece !== undefined) steps.push({ kind: kind?.$case ?? "", text: piece });
    else steps.push({ kind: kind?.$case ?? "", text: JSON.stringify(kind) });
  }
  return steps;
}

/** What goes on with the step before, where the two are of one kind. */
function pieceOf(kind: Event["kind"]): string | undefined {
  switch (kind?.$case) {
    case "text":
      return kind.value.text;
    case "thinking":
      return kind.value.text + (kind.value.signature ?? "");
    case "toolCallDelta":
      return kind.value.arguments;
    default:
      return undefined;
  }
}

const bytes = Buffer.concat(messagesOf(FULL));
const whole = read(bytes);

test("all of an answer is told", () => {
  expect(whole).toMatchObject({
    complete: true,
    error: undefined,
    text: 'I think of a bridge: \u{1f309}.Grüße \u{1f30d}, all of you.weather{"city":"Åre"}clock{}',
    usage: { inputTokens: 10n, outputTokens: 4n, cacheReadTokens: 40n, cacheWriteTokens: 2n, cacheWrite1hTokens: 5n },
  });
});

test("the same in two reads, cut at every byte, and byte by byte", () => {
  for (let cut = 1; cut < bytes.length; cut++)
    expect(read(bytes.subarray(0, cut), bytes.subarray(cut)), `cut at ${cut}`).toEqual(whole);
  expect(read(...[...bytes].map((byte) => Buffer.of(byte)))).toEqual(whole);
});

test("whatever ends before the last word never looks complete", () => {
  const stop = Buffer.concat(messagesOf({ ...FULL, usage: null })).length;
  for (let end = 0; end < stop; end++)
    expect(read(bytes.subarray(0, end)), `${end} bytes`).not.toMatchObject({ complete: true, error: undefined });
  // All of it was said; only what it cost was not, and is counted.
  expect(read(bytes.subarray(0, stop))).toMatchObject({ complete: true, error: undefined, usage: undefined });
  for (let end = stop + 1; end < bytes.length; end++)
    expect(read(bytes.subarray(0, end)), `${end} bytes`).toMatchObject({ error: "ERROR_REASON_UPSTREAM_FAILED" });
});

test("a byte that changed on the way is found", () => {
  for (let place = 0; place < bytes.length; place += 7) {
    const changed = Buffer.from(bytes);
    changed[place] = (changed[place] ?? 0) ^ 1;
    expect(read(changed), `byte ${place}`).not.toEqual(whole);
    expect(read(changed), `byte ${place}`).toMatchObject({ error: "ERROR_REASON_UPSTREAM_FAILED" });
  }
});

test.each(["<html>no</html>", 'data: {"x":1}\n\n', "{}{}"])("%s is no stream", (text) => {
  expect(read(Buffer.from(text))).not.toMatchObject({ complete: true, error: undefined });
});

describe("an exception", () => {
  test.each([
    ["throttlingException", "ERROR_REASON_UPSTREAM_RATE_LIMITED"],
    ["validationException", "ERROR_REASON_UPSTREAM_REJECTED"],
    ["modelTimeoutException", "ERROR_REASON_UPSTREAM_TIMEOUT"],
    ["modelStreamErrorException", "ERROR_REASON_UPSTREAM_FAILED"],
    ["internalServerException", "ERROR_REASON_UPSTREAM_FAILED"],
    ["serviceUnavailableException", "ERROR_REASON_UPSTREAM_UNAVAILABLE"],
    ["somethingNewException", "ERROR_REASON_UPSTREAM_FAILED"],
  ])("%s is %s, and nothing behind it counts", (type, reason) => {
    const exceptionAfter = { messages: 3, type, message: "no" };
    const told = Buffer.concat(messagesOf({ ...FULL, exceptionAfter }));
    expect(read(told, bytes)).toMatchObject({ error: reason, complete: false });
  });
});

describe("a whole answer", () => {
  const answer = (more: object): Buffer =>
    Buffer.from(
      JSON.stringify({
        output: { message: { role: "assistant", content: FULL.content } },
        stopReason: "tool_use",
        usage: USAGE,
        ...more,
      }),
    );

  test("tells what its stream tells", () => {
    const { report, events } = wire.decodeAnswer(answer({}), asked);
    const kinds = (told: unknown): unknown => (told as { steps: unknown }).steps;
    expect(joined(events())).toEqual(kinds(whole));
    expect(report).toMatchObject({ complete: true, text: (whole as { text: string }).text });
  });

  test("keeps the digits of arguments that no double holds", () => {
    const body = answer({}).toString().replace('{"city":"Åre"}', '{"at":12345678901234567890.10}');
    const { events } = wire.decodeAnswer(Buffer.from(body), asked);
    expect(JSON.stringify(events())).toContain("12345678901234567890.10");
  });

  test.each(["", "null", "{}", '{"output":{}}', '{"message":"no"}'])("is not %j", (body) => {
    expect(() => wire.decodeAnswer(Buffer.from(body), asked)).toThrow();
  });
});

describe("usage", () => {
  test.each([
    { name: "none", usage: {}, want: undefined },
    { name: "no cache", usage: { inputTokens: 3, outputTokens: 2, totalTokens: 5 }, want: [3n, 0n, 0n, 0n, 2n] },
    { name: "all", usage: USAGE, want: [10n, 40n, 2n, 5n, 4n] },
    {
      name: "more for an hour than was written",
      usage: { ...USAGE, cacheDetails: [{ ttl: "1h", inputTokens: 99 }] },
      want: [10n, 40n, 0n, 7n, 4n],
    },
  ])("$name", ({ usage, want }) => {
    const content = [{ text: "hi" }];
    const body = JSON.stringify({ output: { message: { content } }, stopReason: "end_turn", usage });
    const told = wire.decodeAnswer(Buffer.from(body), asked).report.usage;
    expect(
      told === undefined
        ? undefined
        : [told.inputTokens, told.cacheReadTokens, told.cacheWriteTokens, told.cacheWrite1hTokens, told.outputTokens],
    ).toEqual(want);
  });

  test.each([-1, 1.5, "7"])("a count of %j is not believed", (inputTokens) => {
    const usage = { ...USAGE, inputTokens };
    const body = JSON.stringify({ output: { message: { content: [] } }, stopReason: "end_turn", usage });
    expect(wire.decodeAnswer(Buffer.from(body), asked).report.usageBroken).toBe(true);
  });
});
