/** Ids of others' objects at any place of a body, in any spelling and as deep as it goes: none leaves. */
import { expect, test } from "vitest";
import { GatewayError } from "../../src/base/errors.js";
import { bySweep } from "../support/sweep.js";
import { ENDPOINTS, goesTo, leaving, read, UNPRICED } from "./asked.js";

const BODIES = bySweep({ short: 1_200, long: 10_000, all: 10_000 });
const ID = "of-another-tenant";

type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };
type Container = Json[] | Record<string, Json>;

const CALLED = { city: "Rome", deep: [{ day: 1 }] };
const SCHEMA = { type: "object", properties: { city: { type: "string" } } };

/** Bodies as agents send them: with every kind of thing that a conversation has. */
const RICH: Readonly<Record<string, Json>> = {
  "openai-chat": {
    model: "m",
    messages: [
      { role: "system", content: [{ type: "text", text: "Be brief." }] },
      {
        role: "user",
        content: [
          { type: "text", text: "Hi" },
          { type: "image_url", image_url: { url: "https://example.com/a.png", detail: "low" } },
          { type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,aGk=" } },
        ],
      },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "c", type: "function", function: { name: "f", arguments: '{"file_id":"mine"}' } }],
      },
      { role: "tool", tool_call_id: "c", content: [{ type: "text", text: "It rains." }] },
    ],
    tools: [{ type: "function", function: { name: "f", description: "d", parameters: SCHEMA } }],
    response_format: { type: "json_schema", json_schema: { name: "n", schema: SCHEMA } },
    metadata: { of: "mine" },
    x_new: { deep: [{ more: "x" }] },
  },
  "openai-responses": {
    model: "m",
    input: [
      { role: "user", content: [{ type: "input_text", text: "Hi" }] },
      {
        type: "message",
        role: "assistant",
        content: [
          {
            type: "output_text",
            text: "as it says",
            annotations: [{ type: "file_citation", file_id: "mine", index: 0 }],
          },
        ],
      },
      { type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: "so" }], encrypted_content: "abc" },
      { type: "function_call", call_id: "c", name: "f", arguments: "{}" },
      { type: "function_call_output", call_id: "c", output: [{ type: "input_text", text: "done" }] },
      { type: "file_search_call", id: "fs_1", queries: ["q"], results: [{ file_id: "mine", text: "t" }] },
      { type: "image_generation_call", id: "ig_1", status: "completed", result: "aGk=" },
      { type: "mcp_list_tools", id: "ml_1", server_label: "s", tools: [{ name: "f", input_schema: SCHEMA }] },
      { type: "computer_call_output", call_id: "d", output: { type: "computer_screenshot", image_url: "data:," } },
    ],
    tools: [{ type: "function", name: "f", parameters: SCHEMA }],
    text: { format: { type: "json_schema", name: "n", schema: SCHEMA } },
    metadata: { of: "mine" },
    x_new: { deep: [{ more: "x" }] },
  },
  anthropic: {
    model: "m",
    max_tokens: 5,
    system: [{ type: "text", text: "Be brief.", cache_control: { type: "ephemeral" } }],
    messages: [
      {
        role: "user",
        content: [
          { type: "text", text: "Hi" },
          { type: "document", source: { type: "content", content: [{ type: "text", text: "It rains." }] } },
          { type: "search_result", source: "s", title: "t", content: [{ type: "text", text: "x" }] },
        ],
      },
      {
        role: "assistant",
        content: [
          { type: "tool_use", id: "c", name: "f", input: CALLED },
          { type: "server_tool_use", id: "s", name: "web_fetch", input: { url: "https://example.com" } },
          {
            type: "web_fetch_tool_result",
            tool_use_id: "s",
            content: {
              type: "web_fetch_result",
              url: "https://example.com",
              content: { type: "document", source: { type: "text", media_type: "text/plain", data: "It rains." } },
            },
          },
          {
            type: "code_execution_tool_result",
            tool_use_id: "e",
            content: {
              type: "code_execution_result",
              content: [{ type: "code_execution_output", file_id: "mine" }],
              return_code: 0,
            },
          },
        ],
      },
      {
        role: "user",
        content: [{ type: "tool_result", tool_use_id: "c", content: [{ type: "text", text: "done" }] }],
      },
    ],
    tools: [{ name: "f", input_schema: SCHEMA }],
    metadata: { user_id: "mine" },
    x_new: { deep: [{ more: "x" }] },
  },
  gemini: {
    systemInstruction: { parts: [{ text: "Be brief." }] },
    contents: [
      { role: "user", parts: [{ text: "Hi" }, { inlineData: { mimeType: "image/png", data: "aGk=" } }] },
      { role: "model", parts: [{ functionCall: { name: "f", args: CALLED } }] },
      { role: "user", parts: [{ functionResponse: { name: "f", response: { output: "done" }, parts: [] } }] },
    ],
    tools: [{ functionDeclarations: [{ name: "f", parameters: SCHEMA }] }],
    generationConfig: { temperature: 1, thinkingConfig: { includeThoughts: true }, responseSchema: SCHEMA },
    labels: { of: "mine" },
    x_new: { deep: [{ more: "x" }] },
  },
  "openai-embeddings": { model: "m", input: ["Hi"], x_new: { deep: [{ more: "x" }] } },
};

/** What is the client's own, whatever it is called: there an id is no id. */
const OWN: ReadonlySet<Json> = new Set<Json>([CALLED, SCHEMA]);
const OWN_NAMES = new Set(["metadata", "labels", "args", "response", "annotations", "results", "json_schema"]);
const OWN_TYPES = new Set<Json | undefined>(["file_citation", "code_execution_output", "server_tool_use", "tool_use"]);

const NAMES = ["file_id", "file_ids", "input_file_id", "container_id", "vector_store_ids", "cached_content"].concat(
  ["dataset_id", "knowledge_base_ids", "skill_id", "prompt_id", "assistant_id", "conversation_id", "thread_id"],
  ["previous_response_id", "file_search_store_names", "s3_location"],
);
const AROUND = ["content", "source", "output", "parts", "document", "items", "data", "x", "input_image", "result"];

/** A generator of whole numbers below a bound, the same for the same seed. */
function dice(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
type Roll = (below: number) => number;

const one = <Item>(items: readonly Item[], roll: Roll): Item => items[roll(items.length)] as Item;

function spelled(name: string, roll: Roll): string {
  const spellings = [
    name,
    name,
    name,
    name.toUpperCase(),
    name.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase()),
    name.replaceAll("_", "-"),
    name.replace("i", "\uff49"),
    `${name}_`,
    `${name}\0x`,
  ];
  return one(spellings, roll);
}

/** All objects and lists of the body in which an id would be one. */
function* containers(value: Json): Iterable<Container> {
  if (typeof value !== "object" || value === null || OWN.has(value)) return;
  if (!Array.isArray(value) && OWN_TYPES.has((value as Record<string, Json>)["type"])) return;
  yield value as Container;
  for (const [name, inner] of Object.entries(value)) if (!OWN_NAMES.has(name)) yield* containers(inner);
}

/** A copy in which what is the client's own stays the very same object, so that it is known again. */
function copied(value: Json): Json {
  if (typeof value !== "object" || value === null || OWN.has(value)) return value;
  if (Array.isArray(value)) return value.map((item: Json) => copied(item));
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, copied(inner)]));
}

/** The body with one id at a random place of it, under as many further levels. */
function planted(wire: string, roll: Roll): string {
  const body = copied(RICH[wire] ?? {});
  let planted: Json = { [spelled(one(NAMES, roll), roll)]: one<Json>([ID, [ID], { id: ID }], roll) };
  if (roll(3) === 0) planted = { type: one(["document", "file", "new_part", "input_file", "text"], roll), ...planted };
  for (let count = roll(6); count > 0; count--)
    planted = roll(3) === 0 ? [planted] : { [one(AROUND, roll)]: planted, ...(roll(2) === 0 ? { type: "x" } : {}) };
  const place = one([...containers(body)], roll);
  if (Array.isArray(place)) place.splice(roll(place.length + 1), 0, planted);
  else if (Array.isArray(planted) || roll(2) === 0) place[one(AROUND, roll)] = planted;
  else Object.assign(place, planted);
  const text = JSON.stringify(body);
  // As an escape hides a letter of it.
  return roll(6) === 0 ? text.replace(/"([a-z_]*i)d(s?)":/, String.raw`"$1\u0064$2":`) : text;
}

function around(sent: Buffer): string {
  const at = sent.indexOf(ID);
  return sent.toString("utf8", Math.max(0, at - 200), at + 60);
}

test(`of ${BODIES} bodies with an id at a random place, none leaves with it`, () => {
  const roll = dice(20_261_129);
  const wires = Object.keys(RICH);
  const left: string[] = [];
  let refused = 0;
  for (let count = 0; count < BODIES; count++) {
    const wire = wires[count % wires.length] ?? "";
    const text = planted(wire, roll);
    const reached = ENDPOINTS.filter(({ endpoint }) => goesTo(wire, endpoint.wire.name));
    const { family, endpoint } = one(
      roll(2) === 0 ? reached.filter((to) => to.endpoint.wire.name === wire) : reached,
      roll,
    );
    try {
      const sent = leaving(read(wire, text), family, endpoint, { ...UNPRICED, tool: () => "free" });
      if (sent.includes(ID)) left.push(`${family.name} over ${endpoint.wire.name} got ${around(sent)}`);
    } catch (error) {
      if (!(error instanceof GatewayError) || error.http !== 400) throw error;
      refused++;
    }
  }
  expect(left.slice(0, 3), `${left.length} left`).toEqual([]);
  expect(refused).toBeGreaterThan(BODIES / 2);
}, 600_000);

test.each(Object.entries(RICH))("$0 without one leaves as it came", (wire, body) => {
  const own = ENDPOINTS.filter(({ endpoint }) => endpoint.wire.name === wire);
  let left = 0;
  for (const { family, endpoint } of own) {
    const sent = leaving(read(wire, JSON.stringify(body)), family, endpoint, { ...UNPRICED, tool: () => "free" });
    if (sent.includes("mine") || wire === "openai-embeddings") left++;
  }
  expect(left).toBeGreaterThan(0);
});

test("a picture that was made is told with itself, never by its id alone", () => {
  const to = ENDPOINTS.find(({ endpoint }) => endpoint.wire.name === "openai-responses");
  if (to === undefined) throw new Error("nobody speaks it");
  for (const item of [{}, { result: null }, { result: "" }]) {
    const input = [{ type: "image_generation_call", id: ID, ...item }];
    const send = (): Buffer =>
      leaving(read("openai-responses", JSON.stringify({ model: "m", input })), to.family, to.endpoint);
    expect(send).toThrow(GatewayError);
  }
});
