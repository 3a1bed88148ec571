/** Which requests the gateway marks for caches, and when it stops. */
import { expect, test } from "vitest";
import { NO_USAGE } from "../../src/api/usage.js";
import { families } from "../../src/families/index.js";
import { CacheMarking, type RequestMarks } from "../../src/routing/cache-marking.js";
import type { Target } from "../../src/routing/model.js";
import { wire as chat } from "../../src/wire/openai-chat/index.js";

const family = (name: string) => families.find((one) => one.name === name);
const FACTS = { cacheMarks: true, cachedTokensMin: 512 };
const target = (name = "anthropic", facts: object = FACTS): Target =>
  ({ served: { family: family(name) }, facts }) as unknown as Target;
const LONG = "word ".repeat(1_000);
const ANSWERED = [
  { role: "user", content: LONG },
  { role: "assistant", content: "yes" },
  { role: "user", content: "more" },
];

interface Asked {
  readonly messages?: readonly object[];
  readonly more?: object;
  readonly session?: string;
  readonly seconds?: number | undefined;
}

function begin(marking: CacheMarking, { messages = ANSWERED, more = {}, session = "", ...given }: Asked) {
  const body = Buffer.from(JSON.stringify({ model: "m", messages, ...more }));
  const request = chat.readRequest({ wire: "openai-chat", body, headers: {} });
  const attributes = () => ({ session, sessionSource: session === "" ? "" : "header", promptCacheKey: "" }) as const;
  const cacheMarksSeconds = "seconds" in given ? given.seconds : 300;
  const model = { id: "m", cacheMarksSeconds };
  return marking.begin({ request, kind: "chat", model, accountId: "a", session: { attributes, affinity: undefined } });
}

const markerOf = (marks: RequestMarks | undefined, at = target()) => [marks?.of(at), marks?.marker];
const AUTO = { ttlSeconds: 300, tokensMin: 512 };
const TOOLS = { tools: [{ type: "function", function: { name: "f", parameters: { type: "object" } } }] };
const MARKED = [{ role: "user", content: [{ type: "text", text: LONG, cache_control: { type: "ephemeral" } }] }];
const FIRST = [{ role: "user", content: LONG }];

test.each<{ name: string; asked: Asked; at?: Target; want: readonly unknown[] }>([
  { name: "a conversation", asked: {}, want: [AUTO, "auto"] },
  { name: "a first turn of a session", asked: { messages: FIRST, session: "s" }, want: [AUTO, "auto"] },
  { name: "a first turn with tools", asked: { messages: FIRST, more: TOOLS }, want: [AUTO, "auto"] },
  { name: "a first turn of no session and without tools", asked: { messages: FIRST }, want: [undefined, "none"] },
  { name: "what its client marked", asked: { messages: MARKED }, want: [undefined, "client"] },
  { name: "a short prompt", asked: { messages: ANSWERED.slice(1), session: "s" }, want: [undefined, "none"] },
  { name: "a model that is not to be marked", asked: { seconds: undefined }, want: [undefined, undefined] },
  { name: "a wire without marks", asked: {}, at: target("openai"), want: [undefined, undefined] },
  { name: "a model without marks", asked: {}, at: target("anthropic", {}), want: [undefined, undefined] },
])("$name", ({ asked, at, want }) => {
  expect(markerOf(begin(new CacheMarking(), asked), at)).toEqual(want);
});

test("a session is not marked after three writes without a read, and a read begins anew", () => {
  const marking = new CacheMarking();
  const ask = (usage: object, session = "s") => {
    const marks = begin(marking, { session });
    const [, marker] = markerOf(marks);
    marks?.ended({ ...NO_USAGE, ...usage });
    return marker;
  };
  const [write, read] = [{ cacheWriteTokens: 9n }, { cacheReadTokens: 9n }];
  expect([ask(write), ask(write), ask(read), ask(write), ask({}), ask(write), ask(write), ask(write)]).toEqual([
    ...Array.from({ length: 7 }, () => "auto"),
    "none",
  ]);
  expect(ask(write, "other")).toBe("auto");
});
