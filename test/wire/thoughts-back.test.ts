/** Thoughts on their way to a client and back: in pieces, several, and with what proves them. */
import { describe, expect, test } from "vitest";
import { type Event, Role } from "../../src/api/index.js";
import { wire as anthropic } from "../../src/wire/anthropic/index.js";
import { wire as gemini } from "../../src/wire/gemini/index.js";
import { wire as openAiChat } from "../../src/wire/openai-chat/index.js";

type Json = Readonly<Record<string, unknown>>;

const STREAMED = openAiChat.readRequest({
  wire: "openai-chat",
  body: Buffer.from('{"model":"m","stream":true,"messages":[{"role":"user","content":"q"}]}'),
  headers: {},
});

/** As OpenAI's helper for Python keeps a list: entries are joined by their index. */
function byIndex(kept: readonly Json[] | undefined, told: readonly Json[]): readonly Json[] {
  if (kept === undefined) return told;
  const list = [...kept];
  for (const entry of told) {
    const { index } = entry;
    if (typeof index !== "number") throw new Error("Expected list delta entry to have an `index` key");
    list[index] = list[index] === undefined ? entry : Object.assign({}, list[index], entry);
  }
  return list;
}

/** How clients keep a member that they do not know: by its index, what came last, or all that came. */
const KEEPERS: readonly ((kept: readonly Json[] | undefined, told: readonly Json[]) => readonly Json[])[] = [
  byIndex,
  (_kept, told) => told,
  (kept = [], told) => [...kept, ...told],
];

const thought = (text: string, signature?: string): Event => ({
  kind: { $case: "thinking", value: { candidate: 0, text, signature } },
});
const redacted = (data: string): Event => ({
  kind: {
    $case: "part",
    value: { candidate: 0, part: { kind: { $case: "redactedThinking", value: { data } }, cacheMark: undefined } },
  },
});
const END: Event = { kind: { $case: "candidateEnd", value: { candidate: 0, reason: 1, stopString: undefined } } };

test.each([
  { name: "one thought", steps: [thought("step"), thought(" 1", "s1")] },
  { name: "two thoughts", steps: [thought("step 1", "s1"), thought("step 2"), thought("", "s2")] },
  { name: "a thought and one that is sealed", steps: [thought("step 1", "s1"), redacted("DATA")] },
  { name: "sealed ones alone", steps: [redacted("A"), redacted("B"), redacted("C")] },
])("a chat client keeps $name however it adds up deltas", ({ steps }) => {
  const encoder = openAiChat.encodeStream(STREAMED.facts);
  // Each step comes with a read of its own.
  const text = [...steps, END].map((step) => encoder.push([step]).toString()).join("");
  const deltas = [...text.matchAll(/^data: (\{.*\})$/gm)].flatMap(([, json]) => {
    const { choices } = JSON.parse(json!) as { readonly choices: readonly { readonly delta: Json }[] };
    const details = choices[0]?.delta["reasoning_details"];
    return details === undefined ? [] : [details as readonly Json[]];
  });
  const [kept, ...others] = KEEPERS.map((keep) =>
    deltas.reduce<readonly Json[] | undefined>((list, told) => keep(list, told), undefined),
  );
  expect(others).toEqual([kept, kept]);
  const proofs = steps.flatMap(({ kind }) => (kind?.$case === "thinking" ? (kind.value.signature ?? []) : []));
  expect(kept!.flatMap((entry) => entry["signature"] ?? [])).toEqual(proofs);
  expect(kept!.map((entry) => entry["index"])).toEqual(kept!.map((_, place) => place));
});

const SIGNATURE = "SIGX==";
/** As our own stream to a client of Gemini's wire wraps it. */
const WRAPPED = Buffer.from(`tollgate:${SIGNATURE}`).toString("base64");

/** Every way to cut a text into pieces of at least one character. */
function cuts(text: string): readonly (readonly string[])[] {
  if (text.length < 2) return [[text]];
  const [first = "", ...rest] = text;
  return cuts(rest.join("")).flatMap((pieces) => [
    [first, ...pieces],
    [first + (pieces[0] ?? ""), ...pieces.slice(1)],
  ]);
}

/** What Anthropic gets of the assistant's turn. */
function sentBlocks(asked: ReturnType<typeof gemini.readRequest>): readonly Json[] {
  const owned = { model: "claude-sonnet-4-5", outputTokensMax: 4_000, stream: false, candidateCount: 1 };
  const { messages } = JSON.parse(anthropic.encodeRequest(asked, owned, {}).toString()) as {
    readonly messages: readonly { readonly role: string; readonly content: readonly Json[] }[];
  };
  return messages.find(({ role }) => role === "assistant")!.content;
}

describe.each(cuts("hmm?"))("a thought that came as %j %j %j %j", (...pieces) => {
  const told = pieces.filter((piece) => piece !== undefined);
  const want = { type: "thinking", thinking: "hmm?", signature: SIGNATURE };

  test.each([
    { name: "on the last piece", proof: "last" },
    { name: "alone", proof: "alone" },
  ])("goes back whole from a client of Gemini's, its proof $name", ({ proof }) => {
    const parts: Json[] = told.map((text) => ({ text, thought: true }));
    if (proof === "last") parts[parts.length - 1] = { ...parts.at(-1), thoughtSignature: WRAPPED };
    else parts.push({ text: "", thoughtSignature: WRAPPED });
    const call = { functionCall: { id: "t1", name: "get", args: {} } };
    const result = {
      role: "user",
      parts: [{ functionResponse: { id: "t1", name: "get", response: { output: "1" } } }],
    };
    const first = { role: "user", parts: [{ text: "q" }] };
    const whole = [first, { role: "model", parts: [...parts, call] }, result];
    const apart = [first, ...[...parts, call].map((part) => ({ role: "model", parts: [part] })), result];
    for (const contents of [whole, apart]) {
      const headers = { "x-tollgate-path-model": "m" };
      const asked = gemini.readRequest({ wire: "gemini", body: Buffer.from(JSON.stringify({ contents })), headers });
      expect(sentBlocks(asked)[0]).toEqual(want);
      expect(asked.prompt().messages.filter(({ role }) => role === Role.ROLE_ASSISTANT)).toHaveLength(1);
    }
  });

  test("goes back whole from a client of chats", () => {
    const details: Json[] = told.map((text) => ({ type: "reasoning.text", text }));
    details.push({ type: "reasoning.text", signature: SIGNATURE });
    const messages = [
      { role: "user", content: "q" },
      { role: "assistant", content: "a", reasoning_details: details },
      { role: "user", content: "more" },
    ];
    const body = Buffer.from(JSON.stringify({ model: "m", messages }));
    const asked = openAiChat.readRequest({ wire: "openai-chat", body, headers: {} });
    expect(sentBlocks(asked)[0]).toEqual(want);
  });
});
