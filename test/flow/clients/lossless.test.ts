/** On its own wire nothing is lost: random requests, answers and streams pass byte for byte, but for what we own. */
import { fc } from "../../support/seeds.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { postChat } from "../../support/chat-call.js";
import { escapedBreaks } from "../../support/escaped-breaks.js";
import { bySweep } from "../../support/sweep.js";
import { startWorld, type World } from "../../support/world.js";
import { jsonText } from "../../wire/openai-chat/bodies.js";

let world: World;
beforeAll(async () => {
  world = await startWorld();
  world.front.expectOddAnswers();
});
afterAll(async () => {
  await world.management.verify();
  await world.close();
});

const RUNS = bySweep({ short: 50, long: 150, all: 150 });
const OUTPUT_TOKENS_MAX = 1_000;
const DONE = "data: [DONE]\n\n";

async function holds<Value>(arbitrary: fc.Arbitrary<Value>, check: (value: Value) => Promise<void>): Promise<void> {
  await fc.assert(fc.asyncProperty(arbitrary, check), { numRuns: RUNS });
}

const space = fc.constantFrom("", "", " ", "\n", "\t ", "\r\n  ");
const text = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 12 }).map((value) => JSON.stringify(value)),
  fc.constantFrom(String.raw`"\u0048i\/"`, String.raw`"\ud83d\ude00 é漢😀"`, String.raw`"{\"fake\":1}"`, '""'),
);
/** A member that nobody knows, so that nobody may touch it. */
const unknownMember = fc
  .tuple(fc.nat(1_000), space, space, jsonText)
  .map(([id, before, after, value]) => ({ key: `x-${id}`, text: `"x-${id}"${before}:${after}${value}` }));

/** An object of the given members and unknown ones, in any order, with blanks anywhere. */
function objectOf(known: readonly fc.Arbitrary<string | undefined>[]): fc.Arbitrary<string> {
  const unknown = fc.uniqueArray(unknownMember, { maxLength: 3, selector: ({ key }) => key });
  return fc
    .tuple(fc.tuple(...known), unknown, fc.infiniteStream(fc.nat()), fc.infiniteStream(space))
    .map(([members, others, order, spaces]) => {
      const all = [...members.filter((member) => member !== undefined), ...others.map((other) => other.text)];
      const ranked = all.map((member) => ({ member, rank: order.next().value }));
      ranked.sort((a, b) => a.rank - b.rank);
      const blank = (): string => spaces.next().value;
      return `{${ranked.map(({ member }) => `${blank()}${member}${blank()}`).join(",")}}`;
    });
}

const member = (key: string, value: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc
    .tuple(fc.constantFrom(JSON.stringify(key), escaped(key)), space, value)
    .map(([name, gap, told]) => `${name}${gap}:${told}`);
const perhaps = (told: fc.Arbitrary<string>): fc.Arbitrary<string | undefined> => fc.option(told, { nil: undefined });

/** The same key, its first letter written as an escape. */
function escaped(key: string): string {
  return `"\\u${key.charCodeAt(0).toString(16).padStart(4, "0")}${key.slice(1)}"`;
}

const arrayOf = (items: readonly string[]): string => `[${items.join(" ,")}]`;
const part = objectOf([fc.constant('"type":"text"'), member("text", text)]);
const message = objectOf([
  fc.constantFrom('"role":"user"', '"role":"system"', '"role":"assistant"', String.raw`"role":"us\u0065r"`),
  member("content", fc.oneof(text, fc.constant("null"), fc.array(part, { minLength: 1, maxLength: 2 }).map(arrayOf))),
]);
const messages = fc.array(message, { minLength: 1, maxLength: 3 }).map(arrayOf);
const tool = objectOf([fc.constant('"type":"function"'), member("function", objectOf([fc.constant('"name":"f"')]))]);
const KNOWN = [
  member("temperature", fc.constantFrom("1.0", "0.70", "1e0", "2")),
  member("top_p", fc.constantFrom("0.10", "1")),
  member("seed", fc.constantFrom("9007199254740993", "-9223372036854775808", "1")),
  member("tools", fc.array(tool, { minLength: 1, maxLength: 2 }).map(arrayOf)),
  member("metadata", objectOf([])),
  member("logit_bias", fc.constantFrom("{}", '{"50256":-100.0}')),
  member("user", text),
  member("stop", fc.constantFrom("null", '"\\u0041"', '["a","b"]')),
].map(perhaps);

/** A value that the gateway owns: how the client wrote it, and how it must arrive. */
const MODELS = [
  { sent: '"fake-1"', arrives: '"fake-1"' },
  { sent: '"other-1"', arrives: '"renamed"' },
  { sent: String.raw`"o\u0074her-1"`, arrives: '"renamed"' },
  { sent: '"org/deep-1"', arrives: '"org/deep-1"' },
  { sent: String.raw`"org\/deep-1"`, arrives: String.raw`"org\/deep-1"` },
];
const LIMITS = [
  { key: "max_tokens", sent: "7", arrives: "7" },
  { key: "max_completion_tokens", sent: "7.0", arrives: "7.0" },
  { key: "max_tokens", sent: "1e2", arrives: "1e2" },
  { key: "max_tokens", sent: "5000", arrives: String(OUTPUT_TOKENS_MAX) },
  { key: "max_completion_tokens", sent: "1000", arrives: "1000" },
  { key: "max_tokens", sent: "null", arrives: "null" },
];
const OPTIONS = ["null", "{}", '{"include_usage" :true}', '{ "x-y":1.0,"include_usage":false }', '{"x-z":[] }'];

/** Marks where the value stands that the gateway owns, until it is filled in for both sides. */
const MODEL_HERE = '"model":"\0model"';
const LIMIT_HERE = '"\0limit":0';
const OPTIONS_HERE = '"stream_options":"\0options"';

const request = fc
  .record({
    model: fc.constantFrom(...MODELS),
    limit: fc.option(fc.constantFrom(...LIMITS), { nil: undefined }),
    stream: fc.boolean(),
    options: fc.option(fc.constantFrom(...OPTIONS), { nil: undefined }),
  })
  .chain((owned) => {
    const hasOptions = owned.stream && owned.options !== undefined;
    return objectOf([
      fc.constant(MODEL_HERE),
      member("messages", messages),
      fc.constant(owned.limit === undefined ? undefined : LIMIT_HERE),
      fc.constant(owned.stream ? '"stream":true' : undefined),
      fc.constant(hasOptions ? OPTIONS_HERE : undefined),
      ...KNOWN,
    ]).map((body) => fill(body, { ...owned, options: hasOptions ? owned.options : undefined }));
  });

interface Owned {
  readonly model: { readonly sent: string; readonly arrives: string };
  readonly limit: { readonly key: string; readonly sent: string; readonly arrives: string } | undefined;
  readonly stream: boolean;
  readonly options: string | undefined;
}

/** The body as the client sends it, and as it must arrive. */
function fill(body: string, owned: Owned): { sent: string; arrives: string } {
  const { model, limit, stream, options } = owned;
  const put = (side: "sent" | "arrives", told: string): string =>
    body
      .replace(MODEL_HERE, () => `"model":${model[side]}`)
      .replace(LIMIT_HERE, () => `"${limit?.key}":${limit?.[side]}`)
      .replace(OPTIONS_HERE, () => `"stream_options":${told}`);
  const added: string[] = [];
  if (limit === undefined || limit.sent === "null") addLimit(added, limit?.key);
  // Its server may stream where nobody says otherwise.
  if (!stream) added.push('"stream":false');
  if (stream && options === undefined) added.push('"stream_options":{"include_usage":true}');
  let arrives = put("arrives", withUsage(options ?? ""));
  // "max_tokens": null names the field already, so that its value is replaced where it stands.
  if (limit?.key === "max_tokens" && limit.sent === "null")
    arrives = arrives.replace('"max_tokens":null', `"max_tokens":${OUTPUT_TOKENS_MAX}`);
  if (added.length > 0) arrives = arrives.replace(/(\s*)\}$/, (_, blanks: string) => `,${added.join(",")}${blanks}}`);
  return { sent: put("sent", options ?? ""), arrives };
}

function addLimit(added: string[], key: string | undefined): void {
  if (key !== "max_tokens") added.push(`"max_tokens":${OUTPUT_TOKENS_MAX}`);
}

/** Options of a stream that ask for the usage, by hand for each of those that are sent. */
function withUsage(options: string): string {
  switch (options) {
    case "null":
    case "{}":
      return '{"include_usage":true}';
    case '{ "x-y":1.0,"include_usage":false }':
      return '{ "x-y":1.0,"include_usage":true }';
    case '{"x-z":[] }':
      return '{"x-z":[],"include_usage":true }';
    default:
      return options;
  }
}

test("any request arrives upstream as it was sent, but for what the gateway owns", async () => {
  world.upstream.override = { text: "Hello" };
  await holds(request, async ({ sent, arrives }) => {
    const response = await postChat(world.front, world.secret, sent);
    expect(response.status, await response.text()).toBe(200);
    expect(world.upstream.requests.at(-1)?.raw.toString()).toBe(arrives);
  });
});

/** What is not as clients of the wire are promised is fitted, so all that is promised is here. */
const usage = objectOf([fc.constant('"prompt_tokens":3'), fc.constant('"completion_tokens":2.0')]);
const answer = objectOf([
  member("id", text),
  member(
    "choices",
    objectOf([
      fc.constant('"index":0'),
      member(
        "message",
        objectOf([
          fc.constant('"role":"assistant"'),
          fc.constant('"refusal":null'),
          member("content", fc.oneof(text, fc.constant("null"))),
        ]),
      ),
      fc.constant('"logprobs":null'),
      fc.constantFrom('"finish_reason":"stop"', '"finish_reason":"length"'),
    ]).map((choice) => arrayOf([choice])),
  ),
  perhaps(member("usage", usage)),
  perhaps(member("model", text)),
]);

test("any whole answer reaches the client as it was sent", async () => {
  await holds(answer, async (body) => {
    world.upstream.override = { body };
    const response = await postChat(world.front, world.secret, {
      model: "fake-1",
      messages: [{ role: "user", content: "x" }],
    });
    expect(await response.text()).toBe(body);
    expect(response.status).toBe(200);
  });
});

const promisedChoice = objectOf([
  fc.constant('"index":0'),
  fc.constant('"finish_reason":null'),
  member("delta", objectOf([fc.constant('"role":"assistant"'), perhaps(member("content", text))])),
]);

const chunk = objectOf([
  perhaps(member("id", text)),
  member(
    "choices",
    fc
      .array(promisedChoice, {
        maxLength: 2,
      })
      .map(arrayOf),
  ),
  perhaps(fc.constant('"usage":null')),
]).map((json) => json.replaceAll(/[\r\n]/g, " "));
const last = objectOf([fc.constant('"choices":[{"index":0,"delta":{"role":"assistant"},"finish_reason":"stop"}]')]).map(
  (json) => json.replaceAll(/[\r\n]/g, " "),
);
const total = usage.map((told) => `{"choices":[],"usage":${told.replaceAll(/[\r\n]/g, " ")}}`);
const event = fc
  .tuple(fc.constantFrom("", ": ping\n\n", ":\n", "id: 7\n"), fc.constantFrom("data: ", "data:"), chunk)
  .map(([before, field, json]) => `${before}${field}${json}\n\n`);
const stream = fc.record({
  events: fc.array(event, { maxLength: 6 }),
  last,
  total,
  end: fc.constantFrom("\n", "\r\n"),
  pieceBytes: fc.integer({ min: 5, max: 400 }),
});

describe.each([true, false])("any stream, usage asked for: %s", (asked) => {
  test("reaches the client as it was sent", async () => {
    await holds(stream, async ({ events, last, total, end, pieceBytes }) => {
      const told = `${events.join("")}data: ${last}\n\n`;
      const streamText = `${told}data: ${total}\n\n${DONE}`.replaceAll("\n", end);
      world.upstream.override = { streamText, pieceBytes };
      const response = await postChat(world.front, world.secret, {
        model: "fake-1",
        stream: true,
        ...(asked ? { stream_options: { include_usage: true } } : {}),
        messages: [{ role: "user", content: "x" }],
      });
      const passed = asked ? `${told}data: ${total}\n\n` : withoutNull(told);
      const want = escapedBreaks(passed).replaceAll("\n", end) + DONE;
      const got = await response.text();
      if (asked) expect(withoutFirstPings(got)).toBe(withoutFirstPings(want));
      else expect(tight(withoutFirstPings(got))).toBe(tight(withoutFirstPings(want)));
    });
  });
});

/** Until a stream says something, the gateway may still turn to another target, and pings say nothing. */
function withoutFirstPings(told: string): string {
  return told.replace(/^(:[^\r\n]*[\r\n]+)+/, "");
}

/** Without the blanks around commas and braces, which may go along with a member. */
function tight(told: string): string {
  return told.replaceAll(/\s*([,{}])\s*/g, "$1");
}

/** Who did not ask for usage is not told that it is null, at the top of a chunk, with the comma that goes along. */
function withoutNull(told: string): string {
  return told.replaceAll(/,\s*"usage":null(?=\s*[,}])/g, "").replaceAll(/"usage":null\s*,\s*/g, "");
}
