/** Ids of what an upstream keeps for whoever has its credential are refused: by any name, at any place of a body. */
import { expect, test } from "vitest";
import { GatewayError } from "../../src/base/errors.js";
import { ENDPOINTS, goesTo, LEAST, leaving, read, UNPRICED } from "./asked.js";
import { bySweep } from "../support/sweep.js";

type Json = Readonly<Record<string, unknown>>;

const ID = "of-another-tenant";

/** What names such an object, wherever a wire puts it. */
const NAMES = [
  "file_id",
  "file_ids",
  "input_file_id",
  "container_id",
  "vector_store_id",
  "vector_store_ids",
  "file_search_store_names",
  "cached_content",
  "previous_response_id",
  "previous_interaction_id",
  "conversation_id",
  "prompt_id",
  "skill_id",
  "skill_ids",
  "assistant_id",
  "thread_id",
  "dataset_id",
  "knowledge_base_ids",
];
/** What names one beside the request's own members alone. */
const BESIDE = [
  ...NAMES,
  "container",
  "conversation",
  "thread",
  "response_id",
  "interaction_id",
  "run_id",
  "batch_id",
  "agent_id",
];

const camel = (name: string): string => name.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase());
const spellings = (names: readonly string[]): readonly string[] => [
  ...new Set(names.flatMap((name) => [name, camel(name), name.toUpperCase(), name.replaceAll("_", "-")])),
];

/** A body with more in its first message, or with such a message or part; undefined where the wire has none. */
function withMessage(wire: string, message: Json, part?: Json): Json | undefined {
  const content = part === undefined ? "Hi" : [part];
  if (wire === "openai-chat" || wire === "anthropic")
    return { ...LEAST[wire], messages: [{ role: "user", content, ...message }] };
  if (wire === "openai-responses") return { ...LEAST[wire], input: [{ role: "user", content, ...message }] };
  if (wire === "gemini") return { contents: [{ role: "user", parts: [part ?? { text: "Hi" }], ...message }] };
  return undefined;
}

const TEXT_PARTS: Readonly<Record<string, Json>> = {
  "openai-chat": { type: "text", text: "Hi" },
  "openai-responses": { type: "input_text", text: "Hi" },
  anthropic: { type: "text", text: "Hi" },
  gemini: { text: "Hi" },
};
const FUNCTIONS: Readonly<Record<string, Json>> = {
  "openai-chat": { type: "function", function: { name: "f" } },
  "openai-responses": { type: "function", name: "f", parameters: {} },
  anthropic: { name: "f", input_schema: { type: "object" } },
};

interface Place {
  readonly place: string;
  readonly names: readonly string[];
  /** Undefined where the wire has no such place. */
  readonly body: (wire: string, name: string) => Json | undefined;
}

const PLACES: readonly Place[] = [
  { place: "beside all else", names: BESIDE, body: (wire, name) => ({ ...LEAST[wire], [name]: ID }) },
  {
    place: "as an object beside all else",
    names: BESIDE,
    body: (wire, name) => ({ ...LEAST[wire], [name]: { id: ID } }),
  },
  {
    place: "deep in a member that nobody knows",
    names: NAMES,
    body: (wire, name) => ({ ...LEAST[wire], x_new: { deep: [{ [name]: ID }] } }),
  },
  {
    place: "in a configuration",
    names: BESIDE,
    body: (wire, name) => (wire === "gemini" ? { ...LEAST[wire], generationConfig: { [name]: ID } } : undefined),
  },
  { place: "in a message", names: NAMES, body: (wire, name) => withMessage(wire, { [name]: ID }) },
  {
    place: "in a text",
    names: NAMES,
    body: (wire, name) => withMessage(wire, {}, { ...TEXT_PARTS[wire], [name]: ID }),
  },
  {
    place: "in a part that nobody knows",
    names: NAMES,
    body: (wire, name) =>
      withMessage(wire, {}, wire === "gemini" ? { newPart: { [name]: ID } } : { type: "new_part", [name]: ID }),
  },
  {
    place: "beside a function",
    names: NAMES,
    body: (wire, name) =>
      FUNCTIONS[wire] === undefined ? undefined : { ...LEAST[wire], tools: [{ ...FUNCTIONS[wire], [name]: ID }] },
  },
  {
    place: "in a tool that nobody knows",
    names: NAMES,
    body: (wire, name) => {
      if (wire === "gemini") return { ...LEAST[wire], tools: [{ newTool: { deep: { [name]: ID } } }] };
      return FUNCTIONS[wire] && { ...LEAST[wire], tools: [{ type: "new_tool", name: "x", deep: { [name]: ID } }] };
    },
  },
];

/** Each name goes to each address, or the names take turns: each goes to every tenth, the next to those beside. */
const TURNS = bySweep({ short: 10, long: 1, all: 1 });

/** The body that would leave for each address that the wire goes to; undefined where it is refused. */
function* sentBy(
  wire: string,
  body: Json,
  endpoints = ENDPOINTS,
): Iterable<{ readonly to: string; readonly sent: string | undefined }> {
  const text = JSON.stringify(body);
  for (const { family, endpoint } of endpoints) {
    if (!goesTo(wire, endpoint.wire.name)) continue;
    const permits = { ...UNPRICED, tool: () => "free" as const };
    let sent: string | undefined;
    try {
      sent = leaving(read(wire, text), family, endpoint, permits).toString();
    } catch (error) {
      if (!(error instanceof GatewayError) || error.http !== 400) throw error;
    }
    yield { to: `${family.name} over ${endpoint.wire.name}`, sent };
  }
}

test.each(Object.keys(LEAST).flatMap((wire) => PLACES.map((place) => Object.assign({ wire }, place))))(
  "$wire: no id of another's object leaves $place",
  ({ wire, names, body }) => {
    for (const [turn, name] of spellings(names).entries()) {
      const asked = body(wire, name);
      if (asked === undefined) return;
      const endpoints = ENDPOINTS.filter((_, place) => place % TURNS === turn % TURNS);
      for (const { to, sent } of sentBy(wire, asked, endpoints))
        if (sent?.includes(ID) === true) expect.fail(`${to} got ${JSON.stringify(asked)}`);
    }
  },
);

test.each([
  { wire: "openai-chat", more: { metadata: { file_id: ID } } },
  { wire: "openai-chat", more: { session_id: ID } },
  { wire: "openai-chat", more: { x_new: { note: ID }, y_new: ID } },
  {
    wire: "openai-chat",
    more: {
      tools: [
        { type: "function", function: { name: ID, parameters: { properties: { file_id: { type: "string" } } } } },
      ],
    },
  },
  {
    wire: "openai-chat",
    more: {
      messages: [
        { role: "user", content: "Hi" },
        {
          role: "assistant",
          tool_calls: [{ id: "c", type: "function", function: { name: "f", arguments: `{"file_id":"${ID}"}` } }],
        },
        { role: "tool", tool_call_id: "c", content: "done" },
      ],
    },
  },
  {
    wire: "anthropic",
    more: {
      messages: [
        { role: "user", content: "Hi" },
        { role: "assistant", content: [{ type: "tool_use", id: "c", name: "f", input: { file_id: ID } }] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "c", content: "done" }] },
      ],
    },
  },
  { wire: "anthropic", more: { metadata: { user_id: ID } } },
  { wire: "anthropic", more: { file_id: null, x_new: ID } },
  { wire: "anthropic", more: { tools: [{ name: "f", input_schema: { properties: { thread_id: { const: ID } } } }] } },
  {
    wire: "openai-responses",
    more: {
      input: [
        { role: "user", content: "Hi" },
        {
          role: "assistant",
          content: [
            {
              type: "output_text",
              text: "as it says",
              annotations: [{ type: "file_citation", file_id: ID, index: 0 }],
            },
          ],
        },
        { role: "user", content: "Go on" },
      ],
    },
  },
  {
    wire: "gemini",
    more: {
      contents: [
        { role: "user", parts: [{ text: "Hi" }] },
        { role: "model", parts: [{ functionCall: { name: "f", args: { file_id: ID } } }] },
        { role: "user", parts: [{ functionResponse: { name: "f", response: { file_id: ID } } }] },
      ],
    },
  },
])("what is a client's own word passes: $wire $more", ({ wire, more }) => {
  const own = [...sentBy(wire, { ...LEAST[wire], ...more })].filter(({ to }) => to.endsWith(` ${wire}`));
  expect(own.length).toBeGreaterThan(0);
  expect(own.some(({ sent }) => sent?.includes(ID) === true)).toBe(true);
});
