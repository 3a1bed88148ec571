/**
 * A body of the upstream's own wire of which a fact changes something: all else stays as the client wrote it, whatever
 * the typed form has no place for.
 */
import { describe, expect, test } from "vitest";
import type { Prompt } from "../../src/api/index.js";
import { endpointFor, type Family } from "../../src/families/family.js";
import { families } from "../../src/families/index.js";
import type { ModelFacts } from "../../src/wire/wire.js";
import { CLIENT_WIRES } from "../gateway/wires.js";

const HEADERS = { "x-tollgate-path-model": "m" };

type Json = Readonly<Record<string, unknown>>;
type Client = "openai-chat" | "openai-responses" | "anthropic" | "gemini";

const SCHEMA = { type: "object", properties: { shade: { type: "string" } }, required: ["shade"] };
/** What no typed form has a place for, of a tool and of the body. */
const DEFERRED = { defer_loading: true, x_new: { deep: [1] } };

/** Bodies that ask for all that facts deny, with members that nobody but their wire knows. */
const BODIES: Readonly<Record<Client, Json>> = {
  "openai-chat": {
    model: "m",
    messages: [
      { role: "system", content: "S0" },
      { role: "user", content: [{ type: "text", text: "u1", x_part: 1 }] },
      { role: "assistant", content: "a1", x_said: true },
      { role: "user", content: "u2" },
    ],
    tools: [
      { type: "function", function: { name: "get", parameters: SCHEMA, strict: true, x_deep: 1 }, ...DEFERRED },
      { type: "function", function: { name: "put", parameters: SCHEMA } },
    ],
    tool_choice: "required",
    response_format: { type: "json_schema", json_schema: { name: "x", schema: SCHEMA } },
    temperature: 0.3,
    top_p: 0.5,
    reasoning_effort: "medium",
    x_kept: { y: 1 },
  },
  "openai-responses": {
    model: "m",
    input: [
      { role: "system", content: "S0" },
      { type: "message", role: "user", content: [{ type: "input_text", text: "u1", x_part: 1 }] },
      { role: "user", content: "u2" },
    ],
    tools: [
      { type: "function", name: "get", parameters: SCHEMA, strict: true, ...DEFERRED },
      { type: "tool_search" },
      { type: "function", name: "put", parameters: SCHEMA, strict: false },
    ],
    tool_choice: "required",
    text: { format: { type: "json_schema", name: "x", schema: SCHEMA }, x_text: 1 },
    temperature: 0.3,
    top_p: 0.5,
    reasoning: { effort: "medium", x_thought: 1 },
    x_kept: { y: 1 },
  },
  anthropic: {
    model: "m",
    max_tokens: 5_000,
    system: [{ type: "text", text: "S0", x_part: 1 }],
    messages: [
      { role: "user", content: [{ type: "text", text: "u1", x_part: 1 }] },
      { role: "assistant", content: "a1" },
      { role: "user", content: "u2" },
    ],
    tools: [
      { name: "get", input_schema: SCHEMA, strict: true, input_examples: [{ shade: "red" }], ...DEFERRED },
      { type: "tool_search_tool_bm25_20251119", name: "tool_search_tool_bm25" },
      { name: "put", input_schema: SCHEMA },
    ],
    tool_choice: { type: "any", x_choice: 1 },
    output_config: { format: { type: "json_schema", schema: SCHEMA }, effort: "medium", x_config: 1 },
    temperature: 0.3,
    top_p: 0.5,
    x_kept: { y: 1 },
  },
  gemini: {
    system_instruction: { parts: [{ text: "S0" }] },
    contents: [
      { role: "user", parts: [{ text: "u1", x_part: 1 }] },
      { role: "model", parts: [{ text: "a1" }] },
      { role: "user", parts: [{ text: "u2" }] },
    ],
    tools: [
      { function_declarations: [{ name: "get", parameters: SCHEMA, behavior: "BLOCKING", x_new: 1 }], x_tool: 1 },
    ],
    tool_config: { function_calling_config: { mode: "ANY", x_choice: 1 } },
    generation_config: {
      response_mime_type: "application/json",
      response_json_schema: SCHEMA,
      temperature: 0.3,
      topP: 0.5,
      thinking_config: { thinking_level: "MEDIUM", x_thought: 1 },
      x_config: 1,
    },
    x_kept: { y: 1 },
  },
};

/** The members of the body that each fact may change, by the name at the top. */
const CHANGES: Readonly<
  Record<string, { readonly facts: ModelFacts; readonly may: Readonly<Record<Client, string[]>> }>
> = {
  sampling: {
    facts: { sampling: "none" },
    may: {
      "openai-chat": ["temperature", "top_p"],
      "openai-responses": ["temperature", "top_p"],
      anthropic: ["temperature", "top_p"],
      gemini: ["generation_config"],
    },
  },
  forced: {
    facts: { forcedTools: false },
    may: {
      "openai-chat": ["tool_choice", "messages"],
      "openai-responses": ["tool_choice", "input"],
      anthropic: ["tool_choice", "system"],
      gemini: ["tool_config", "system_instruction"],
    },
  },
  schemas: {
    facts: { schemas: false },
    may: {
      "openai-chat": ["response_format", "messages", "tools"],
      "openai-responses": ["text", "input", "tools"],
      anthropic: ["output_config", "system", "tools"],
      gemini: ["generation_config", "system_instruction", "tool_config"],
    },
  },
  thinking: {
    facts: { thinking: "none" },
    may: {
      "openai-chat": ["reasoning_effort"],
      "openai-responses": ["reasoning", "include"],
      anthropic: ["output_config", "thinking"],
      gemini: ["generation_config"],
    },
  },
  efforts: {
    facts: { efforts: ["low", "high"] },
    may: {
      "openai-chat": ["reasoning_effort"],
      "openai-responses": ["reasoning"],
      anthropic: ["output_config", "thinking"],
      gemini: ["generation_config"],
    },
  },
};

/** Families that pass what came in their wire but for what the gateway owns. */
const OWN: readonly { readonly client: Client; readonly family: Family }[] = (
  ["openai-chat", "openai-responses", "anthropic", "gemini"] as const
).flatMap((client) =>
  ["openai", "openai-compatible", "openai-responses", "anthropic", "gemini"].flatMap((name) => {
    const family = families.find((one) => one.name === name);
    if (family === undefined) return [];
    const source = { wire: client, body: Buffer.from(JSON.stringify(BODIES[client])), headers: HEADERS };
    const endpoint = endpointFor(family, CLIENT_WIRES[client].readRequest(source), "chat");
    return endpoint.wire.name === client ? [{ client, family }] : [];
  }),
);

const PAIRS = OWN.flatMap(({ client, family }) =>
  Object.entries(CHANGES).map(([fact, { facts, may }]) => ({ client, family, fact, facts, may: may[client] })),
);

describe("what a fact does not change stays", () => {
  test.each(PAIRS)("$fact, $client to $family.name", ({ client, family, facts, may }) => {
    for (const isWhole of [false, true]) {
      const body = Buffer.from(JSON.stringify(BODIES[client]));
      const read = CLIENT_WIRES[client].readRequest({ wire: client, body, headers: HEADERS });
      // A whole answer is asked for by a request of the same body that is no longer the wire's own object.
      const { facts: said, source, members = [], hosted = [] } = read;
      const prompt = (): Prompt => read.prompt();
      const ownPrompt = (): Prompt => read.ownPrompt?.() ?? prompt();
      const asked = isWhole ? { facts: said, source, members, hosted, prompt, ownPrompt } : read;
      const { wire, dialect } = endpointFor(family, read, "chat");
      const owned = { model: "m", outputTokensMax: undefined, stream: false, candidateCount: 1 };
      const text = wire.encodeRequest(asked, { ...owned, facts, toldFacts: facts }, dialect, []).toString();
      const written = JSON.parse(text) as Record<string, unknown>;
      const changed = Object.keys({ ...BODIES[client], ...written }).filter(
        (key) => JSON.stringify(written[key]) !== JSON.stringify(BODIES[client][key]),
      );
      // Some servers stream what nobody asks to be streamed.
      expect(changed.filter((key) => !may.includes(key) && key !== "stream")).toEqual([]);
      expect(changed).not.toEqual([]);
      const [was, is] = [JSON.stringify(BODIES[client]), text];
      for (const name of ["x_new", "x_tool", "x_part", "x_said", "x_config", "x_text", "defer_loading", "behavior"])
        expect([name, is.includes(name)]).toEqual([name, was.includes(name)]);
    }
  });
});
