/** Hosted tools and others' objects, at every place of a request where a vendor's schema takes them. */
import { describe, expect, test } from "vitest";
import { wire as anthropic } from "../../src/wire/anthropic/index.js";
import { wire as gemini } from "../../src/wire/gemini/index.js";
import { wire as openAiChat } from "../../src/wire/openai-chat/index.js";
import { wire as openAiResponses } from "../../src/wire/openai-responses/index.js";
import type { WireRequest } from "../../src/wire/wire.js";

type Json = Readonly<Record<string, unknown>>;

const HEADERS = { "x-tollgate-path-model": "m" };
const read = (wire: Pick<typeof openAiChat, "name" | "readRequest">, body: Json): WireRequest =>
  wire.readRequest({ wire: wire.name, body: Buffer.from(JSON.stringify(body)), headers: HEADERS });
const responses = (more: Json): WireRequest => read(openAiResponses, { model: "m", input: "hi", ...more });
const item = (value: Json): WireRequest => responses({ input: [{ role: "user", content: "hi" }, value] });
const chat = (message: Json): WireRequest =>
  read(openAiChat, {
    model: "m",
    messages: [
      { role: "user", content: "hi" },
      { role: "system", ...message },
    ],
  });
const messages = (message: Json): WireRequest =>
  read(anthropic, { model: "m", max_tokens: 9, messages: [{ role: "user", content: "hi" }, message] });

const TOOL_PLACES: Readonly<Record<string, (tool: Json) => WireRequest>> = {
  "a request": (tool) => responses({ tools: [tool] }),
  "a namespace": (tool) => responses({ tools: [{ type: "namespace", name: "n", tools: [tool] }] }),
  "a namespace in a namespace": (tool) =>
    responses({
      tools: [{ type: "namespace", name: "n", tools: [{ type: "namespace", name: "m", tools: [tool] }] }],
    }),
  "an item that brings tools": (tool) => item({ type: "additional_tools", role: "developer", tools: [tool] }),
  "a namespace of such an item": (tool) =>
    item({ type: "additional_tools", role: "developer", tools: [{ type: "namespace", name: "n", tools: [tool] }] }),
  "what a search for tools found": (tool) => item({ type: "tool_search_output", call_id: "c", tools: [tool] }),
};
const HOSTED = ["web_search", "file_search", "code_interpreter", "image_generation", "mcp", "web_search_preview"];

describe.each(Object.entries(TOOL_PLACES))("in %s", (_place, make) => {
  test.each(HOSTED)("%s is seen", (type) => {
    expect(make({ type }).hosted?.map(({ kind }) => kind)).toEqual(["priced"]);
  });

  test("a shell in a container of the upstream's is seen", () => {
    const tool = { type: "shell", environment: { type: "container_auto" } };
    expect(make(tool).hosted?.map(({ name }) => name)).toEqual(["shell_container"]);
  });

  test.each(["file_ids", "fileIds", "vector_store_ids", "skill_id", "memory_limit"])(
    "%s of a shell is held",
    (name) => {
      const tool = { type: "shell", environment: { type: "container_auto", deep: [{ [name]: ["x"] }] } };
      expect(make(tool).held?.param).toContain(name);
    },
  );

  test("a container that is named is held", () => {
    const tool = { type: "shell", environment: { type: "container_reference", container_id: "cntr_1" } };
    expect(make(tool).held?.param).toContain("container_id");
  });

  test("tools that the client runs pass, whatever their schemas are about", () => {
    const schema = { type: "object", properties: { file_id: { type: "string" }, container_id: { type: "string" } } };
    for (const tool of [
      { type: "function", name: "f", parameters: schema },
      { type: "custom", name: "f", format: { type: "text" } },
      { type: "local_shell" },
      { type: "shell", environment: { type: "local" } },
      { type: "apply_patch" },
      { type: "namespace", name: "n", tools: [{ type: "function", name: "f", parameters: schema }] },
    ]) {
      const request = make(tool);
      expect([request.hosted, request.held]).toEqual([[], undefined]);
    }
  });
});

const HELD_ITEMS: readonly Json[] = [
  { type: "computer_call_output", call_id: "c", output: { type: "computer_screenshot", file_id: "file-1" } },
  { type: "code_interpreter_call", id: "ci_1", code: "1", container_id: "cntr_1", outputs: null },
  { type: "shell_call", call_id: "c", action: { commands: [] }, environment: { container_id: "cntr_1" } },
  { type: "function_call_output", call_id: "c", output: [{ type: "input_file", file_id: "file-1" }] },
  { type: "function_call_output", call_id: "c", output: { type: "input_file", file_id: "file-1" } },
  { type: "custom_tool_call_output", call_id: "c", output: { type: "input_image", file_id: "file-1" } },
  { type: "a_new_item", deep: [{ deeper: { vector_store_ids: ["vs_1"] } }] },
  { role: "user", content: [{ type: "input_image", file_id: "file-1" }] },
];

test.each(HELD_ITEMS)("an item that names what the upstream keeps is refused: %j", (value) => {
  expect(item(value).held?.param).toMatch(/^input\[1\]/);
});

const PLAIN_ITEMS: readonly Json[] = [
  { type: "file_search_call", id: "fs_1", queries: ["q"], results: [{ file_id: "file-1", text: "t" }] },
  { type: "code_interpreter_call", id: "ci_1", code: "1", container_id: null, outputs: null },
  {
    type: "mcp_list_tools",
    id: "m",
    server_label: "s",
    tools: [{ name: "f", input_schema: { properties: { file_id: {} } } }],
  },
  { type: "computer_call_output", call_id: "c", output: { type: "computer_screenshot", image_url: "data:," } },
  { type: "function_call", call_id: "c", name: "f", arguments: '{"file_id":"x"}' },
];

test.each(PLAIN_ITEMS)("an item that only tells what was passes: %j", (value) => {
  expect(item(value).held).toBeUndefined();
});

describe("tools that a message brings along are those of the request", () => {
  test.each(["system", "user", "assistant"])("for Anthropic, by %s", (role) => {
    const tools = [{ type: "web_search_20250305", name: "web_search", max_uses: 3 }];
    expect(messages({ role, content: "hi", tools }).hosted).toMatchObject([{ kind: "priced", callsMax: 3 }]);
    expect(messages({ role, content: [{ type: "tool_addition", tools }] }).hosted).toHaveLength(1);
    expect(messages({ role, content: [{ type: "tool_addition", tool: tools[0] }] }).hosted).toHaveLength(1);
    const own = [{ name: "f", input_schema: { type: "object" } }];
    expect(messages({ role, content: "hi", tools: own }).hosted).toEqual([]);
  });

  test("for chat completions", () => {
    const tools = [{ type: "builtin_function", function: { name: "$web_search" } }];
    expect(chat({ content: "hi", tools }).hosted).toMatchObject([{ name: "web_search", kind: "priced" }]);
  });
});

test("a sound that the upstream keeps is taken from nobody", () => {
  expect(chat({ role: "assistant", audio: { id: "audio_1" } }).held?.param).toBe("messages[1].audio.id");
  expect(chat({ role: "assistant", content: "hi", audio: null }).held).toBeUndefined();
});

test.each([
  ["https://generativelanguage.googleapis.com/v1beta/files/x", true],
  ["https://generativelanguage.googleapis.com./v1beta/files/x", true],
  ["https://GENERATIVELANGUAGE.googleapis.com../v1beta/files/x", true],
  ["https://generativelanguage%2egoogleapis.com/v1beta/files/x", true],
  ["https://googleapis.com./files/x", true],
  ["gs://bucket/x", true],
  ["https://storage.googleapis.com/bucket/x", false],
  ["https://www.youtube.com/watch?v=x", false],
])("Google's file at %s is held: %s", (fileUri, isHeld) => {
  const parts = [{ fileData: { mimeType: "video/mp4", fileUri } }];
  expect(read(gemini, { contents: [{ parts }] }).held !== undefined).toBe(isHeld);
});
