/** What an encoder keeps of an answer, it says: so that a budget bounds it, whatever a model goes on with. */
import { describe, expect, test } from "vitest";
import type { Event, Part } from "../../src/api/index.js";
import { CLIENT_WIRES } from "../gateway/wires.js";
import { STREAM_FACTS } from "../support/stream-facts.js";

const WIRES = Object.values(CLIENT_WIRES);
const PUSHES = 200;
const TEXT = "x".repeat(10_000);
/** What is not the answer's: names, ids, and what stands before the first step. */
const OWN_CHARACTERS = 20_000;
/** What one piece takes beside its text. */
const OWN_BYTES = 80;
/** An encoder may keep a text beside the JSON that it stands in. */
const COPIES_MAX = 3;

type Kind = NonNullable<Event["kind"]>;
const candidate = 0;
const call = (index: number): Kind => ({
  $case: "toolCallStart",
  value: { candidate, index, id: `call_${index}`, name: "look", custom: false, signature: undefined },
});
const fragment = (index: number, text: string): Kind => ({
  $case: "toolCallDelta",
  value: { candidate, index, arguments: text },
});

const ANSWERS: readonly { readonly name: string; readonly begin?: readonly Kind[]; readonly step: Kind }[] = [
  { name: "text", step: { $case: "text", value: { candidate, text: TEXT } } },
  { name: "a refusal", step: { $case: "refusal", value: { candidate, text: TEXT } } },
  { name: "a thought", step: { $case: "thinking", value: { candidate, text: TEXT, signature: undefined } } },
  { name: "thoughts with proofs", step: { $case: "thinking", value: { candidate, text: "", signature: TEXT } } },
  { name: "thoughts that are hidden", step: part({ kind: { $case: "redactedThinking", value: { data: TEXT } } }) },
  {
    name: "whole calls",
    step: part({
      kind: { $case: "toolCall", value: { id: "c", name: "look", custom: false, arguments: `{"a":"${TEXT}"}` } },
    }),
  },
  { name: "the arguments of a call", begin: [call(0), fragment(0, '{"a":"')], step: fragment(0, TEXT) },
  {
    name: "the arguments of a call beside one that goes on",
    begin: [call(0), fragment(0, '{"a":"'), call(1), fragment(1, '{"a":"')],
    step: fragment(1, TEXT),
  },
];

function part(of: Partial<Part>): Kind {
  return { $case: "part", value: { candidate, part: { kind: undefined, cacheMark: undefined, ...of } } };
}

/** The characters of all texts that it holds on to. */
function charactersIn(value: unknown, seen = new Set<unknown>()): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null || seen.has(value)) return 0;
  seen.add(value);
  const entries =
    value instanceof Map ? [...value.values()] : Reflect.ownKeys(value).map((key) => Reflect.get(value, key));
  return entries.reduce<number>((sum, entry) => sum + charactersIn(entry, seen), 0);
}

describe.each(WIRES)("of $name", (wire) => {
  test.each(ANSWERS)("what is kept of $name is told as kept", ({ begin = [], step }) => {
    const encoder = wire.encodeStream(STREAM_FACTS);
    encoder.push([
      { kind: { $case: "start", value: { id: "a", model: "m", createTime: undefined, inputTokens: 1n } } },
    ]);
    encoder.push(begin.map((kind) => ({ kind })));
    for (let push = 0; push < PUSHES; push += 1) encoder.push([{ kind: step }]);
    expect(charactersIn(encoder)).toBeLessThanOrEqual(COPIES_MAX * encoder.keptBytes + OWN_CHARACTERS);
    expect(encoder.keptBytes).toBeLessThanOrEqual(PUSHES * (TEXT.length + OWN_BYTES) * 4);
  });
});
