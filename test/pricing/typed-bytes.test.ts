/** Whatever text of a typed prompt an upstream may read stands in what is held for it. */
import { describe, expect, test } from "vitest";
import { type Part, type Prompt, Role, ToolChoice_Mode } from "../../src/api/index.js";
import { typedRequest } from "../../src/gateway/typed-request.js";
import { clientWires } from "../../src/reading/readers.js";
import { promptOf } from "../../src/wire/request/prompt.js";
import type { WireRequest } from "../../src/wire/wire.js";
import { ENDPOINTS, leaving } from "../routing/asked.js";

const LONG = "long ".repeat(20_000);
const SEALED = "A".repeat(100_000);
const partOf = (kind: Part["kind"]): Part => ({ kind, cacheMark: undefined });
const text = (said: string): Part => partOf({ $case: "text", value: { text: said, citationsJson: undefined } });

function typed(parts: readonly Part[], more: Partial<Prompt>, role: Role): WireRequest {
  const message = { role, parts: [...parts], name: undefined, extraJson: undefined };
  const prompt = { ...promptOf({ messages: [message] }, "openai-chat", undefined), ...more };
  const generation = { model: "m", input: { $case: "prompt" as const, value: prompt } };
  return typedRequest({ ...generation, outputTokensMax: undefined, clamp: undefined }, prompt, false, clientWires);
}

const schema = { name: "s", description: LONG, schemaJson: '{"type":"object"}', strict: undefined };
const called = (id: string): Part =>
  partOf({ $case: "toolCall", value: { id, name: "f", arguments: "{}", custom: false, signature: undefined } });

interface Row {
  readonly name: string;
  readonly family: string;
  readonly parts?: readonly Part[];
  readonly more?: Partial<Prompt>;
  readonly role?: Role;
  readonly said?: string;
}

const ROWS: readonly Row[] = [
  {
    name: "the description of a schema",
    family: "openai",
    more: { outputFormat: { kind: { $case: "jsonSchema", value: schema } } },
  },
  {
    name: "the id of a result of no call, which Google reads as text",
    family: "gemini",
    parts: [partOf({ $case: "toolResult", value: { callId: LONG, parts: [text("x")], isError: false } })],
  },
  { name: "the id of a call, which templates show", family: "vllm", parts: [called(LONG)], role: Role.ROLE_ASSISTANT },
  {
    name: "a sealed thought of OpenAI's",
    family: "openai-responses",
    parts: [partOf({ $case: "thinking", value: { text: "", signature: `openai:rs_1:${SEALED}` } })],
    role: Role.ROLE_ASSISTANT,
    said: SEALED,
  },
  {
    name: "the proof of a thought",
    family: "openrouter",
    parts: [partOf({ $case: "thinking", value: { text: "x", signature: SEALED } }), text("x")],
    role: Role.ROLE_ASSISTANT,
    said: SEALED,
  },
  {
    name: "the names of a choice",
    family: "openai",
    more: {
      tools: [
        {
          kind: {
            $case: "function",
            value: { name: "f", description: undefined, parametersJson: "{}", strict: undefined },
          },
          cacheMark: undefined,
        },
      ],
      toolChoice: { mode: ToolChoice_Mode.MODE_AUTO, names: [LONG], custom: false },
    },
  },
];

describe.each(ROWS)("$name", ({ family, parts = [text("Hi")], more = {}, role = Role.ROLE_USER, said = LONG }) => {
  test("is held for where it is sent", () => {
    const request = typed(parts, more, role);
    const found = ENDPOINTS.find((one) => one.family.name === family);
    if (found === undefined) throw new Error(`no family is called ${family}`);
    expect(leaving(request, found.family, found.endpoint).toString()).toContain(said);
    expect(request.facts.textBytes).toBeGreaterThanOrEqual(said.length);
  });
});
