/** Every kind of item that the official client knows: carried to other wires, told in words, or refused by name. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { GatewayError } from "../../../src/base/errors.js";
import { wire as anthropic } from "../../../src/wire/anthropic/index.js";
import { wire as gemini } from "../../../src/wire/gemini/index.js";
import { openAiChatDialect } from "../../../src/wire/openai-chat/facts-dialect.js";
import { wire as chat } from "../../../src/wire/openai-chat/index.js";
import type { UpstreamWire } from "../../../src/wire/wire.js";
import { anthropicProblem } from "../../support/anthropic-rules.js";
import { geminiProblem } from "../../support/gemini-rules.js";
import { openAiProblem } from "../../support/openai-rules.js";
import { request } from "./reading.js";

type Json = Readonly<Record<string, unknown>>;

/** The kinds of items in the client's own declarations. */
function declaredTypes(): string[] {
  const path = new URL("../../../node_modules/openai/resources/responses/responses.d.ts", import.meta.url);
  const text = readFileSync(path, "utf8");
  const union = /export type ResponseInputItem = ([^;]+);/.exec(text)?.[1] ?? "";
  const types = union.split("|").map((name) => {
    const last = name.trim().split(".").at(-1) ?? "";
    const body = new RegExp(`interface ${last} \\{[^]*?\\n(?: {4})?\\}`).exec(text)?.[0] ?? "";
    return /^\s+type\??: '([^']+)'/m.exec(body)?.[1] ?? `${last} has no type`;
  });
  return [...new Set(types)];
}

const MARK = "the-mark";
const call = { call_id: "call_1", id: "it_1" };
/** An item of each kind, after what must stand before it; what it says holds the mark, where it says anything. */
const ITEMS: Readonly<Record<string, readonly Json[]>> = {
  message: [{ role: "user", content: MARK }],
  function_call: [
    { ...call, name: "f", arguments: `{"x":"${MARK}"}` },
    { type: "function_call_output", call_id: "call_1", output: "done" },
  ],
  function_call_output: [
    { type: "function_call", ...call, name: "f", arguments: "{}" },
    { call_id: "call_1", output: MARK },
  ],
  custom_tool_call: [
    { ...call, name: "g", input: MARK },
    { type: "custom_tool_call_output", call_id: "call_1", output: "done" },
  ],
  custom_tool_call_output: [
    { type: "custom_tool_call", ...call, name: "g", input: "x" },
    { call_id: "call_1", output: MARK },
  ],
  additional_tools: [{ role: "developer", tools: [{ type: "function", name: MARK, parameters: { type: "object" } }] }],
  tool_search_call: [{ ...call, arguments: { query: MARK }, execution: "client" }],
  tool_search_output: [{ ...call, tools: [{ type: "function", name: MARK, parameters: { type: "object" } }] }],
  file_search_call: [{ id: "fs", queries: ["x"], status: "completed", results: [{ text: MARK }] }],
  computer_call: [{ ...call, action: { type: "type", text: MARK }, pending_safety_checks: [] }],
  computer_call_output: [{ ...call, output: { type: "computer_screenshot", text: MARK } }],
  web_search_call: [{ id: "ws", action: { type: "search", query: MARK }, status: "completed" }],
  image_generation_call: [{ id: "ig", result: "aGk=", revised_prompt: MARK, status: "completed" }],
  code_interpreter_call: [{ id: "ci", code: MARK, outputs: null, container_id: null }],
  local_shell_call: [{ ...call, action: { type: "exec", command: [MARK] } }],
  local_shell_call_output: [{ id: "it", output: MARK }],
  shell_call: [{ ...call, action: { commands: [MARK] } }],
  shell_call_output: [{ ...call, output: [{ stdout: MARK, stderr: "", outcome: { type: "exit", exit_code: 0 } }] }],
  apply_patch_call: [{ ...call, operation: { type: "delete_file", path: MARK } }],
  apply_patch_call_output: [{ ...call, status: "completed", output: MARK }],
  mcp_call: [{ id: "mc", name: "search", server_label: "s", arguments: "{}", output: MARK }],
  mcp_approval_request: [{ id: "ma", name: "search", server_label: "s", arguments: MARK }],
  program: [{ ...call, code: MARK, fingerprint: "f" }],
  program_output: [{ ...call, result: MARK, status: "completed" }],
  // What says nothing that a model must read.
  mcp_list_tools: [{ id: "ml", server_label: "s", tools: [] }],
  mcp_approval_response: [{ approval_request_id: "ma", approve: true }],
  reasoning: [{ id: "rs_1", summary: [], encrypted_content: "sealed" }],
  // What asks for a summary.
  compaction_trigger: [{}],
  // What no other wire can say.
  compaction: [{ id: "cmp", encrypted_content: "sealed" }],
  configuration_update: [{ reasoning: { effort: "low" } }],
  item_reference: [{ id: "unknown" }],
};
const SILENT: ReadonlySet<string> = new Set([
  "mcp_list_tools",
  "mcp_approval_response",
  "reasoning",
  "compaction_trigger",
]);
const REFUSED: ReadonlySet<string> = new Set(["compaction", "configuration_update", "item_reference"]);

const TARGETS: readonly { wire: UpstreamWire; dialect: object; problem: (body: Json) => unknown }[] = [
  {
    wire: anthropic,
    dialect: {},
    problem: (body) => anthropicProblem("", { "anthropic-version": "2023-06-01" }, body),
  },
  { wire: gemini, dialect: {}, problem: (body) => geminiProblem("gemini-2.5-pro", body) },
  {
    wire: chat,
    dialect: openAiChatDialect,
    problem: (body) => openAiProblem(body, { isOpenAi: true, needsThinking: "" }),
  },
];
const TOOLS = [
  { type: "function", name: "f", parameters: { type: "object" } },
  { type: "custom", name: "g" },
];

function sent(body: Json, { wire, dialect }: (typeof TARGETS)[number]): Json {
  const asked = request({ model: "m", tools: TOOLS, ...body });
  asked.checkForeign?.("m", []);
  const owned = { model: "gpt-4.1", outputTokensMax: 100, stream: false, candidateCount: 1 };
  return JSON.parse(wire.encodeRequest(asked, owned, { ...dialect }, []).toString());
}

test("each kind that the client declares is looked at here", () => {
  expect(declaredTypes().filter((type) => !(type in ITEMS))).toEqual([]);
  expect(declaredTypes().length).toBeGreaterThan(25);
});

describe.each(TARGETS)("towards $wire.name", (target) => {
  test.each(Object.keys(ITEMS))("%s", (type) => {
    const said = ITEMS[type] ?? [];
    const own = type.endsWith("_output") && said.length === 2 ? said.length - 1 : 0;
    const items = said.map((item, place) => (place === own ? Object.assign({ type }, item) : item));
    const next = type === "compaction_trigger" ? [] : [{ role: "user", content: "Go on." }];
    const input = [{ role: "user", content: "Begin." }, ...items, ...next];
    const read = (): Json => sent({ input }, target);
    if (REFUSED.has(type)) {
      let refusal: unknown;
      try {
        read();
      } catch (error) {
        refusal = error;
      }
      expect(refusal).toBeInstanceOf(GatewayError);
      expect(GatewayError.from(refusal)).toMatchObject({ param: "input[1]", http: 400 });
      return;
    }
    const body = read();
    expect(target.problem(body)).toBeUndefined();
    const text = JSON.stringify(body);
    expect(text.includes(MARK)).toBe(!SILENT.has(type));
    expect(text).not.toMatch(/"(content|parts)":(\[\]|"")/);
  });

  test("an item of a kind that is not known is refused by its place", () => {
    const input = [
      { role: "user", content: "x" },
      { type: "new_item", text: MARK },
    ];
    expect(() => sent({ input }, target)).toThrow(/input\[1\].*new_item/);
  });

  test("a tool that is told again is offered once, as it was told last", () => {
    const again = { type: "function", name: "f", description: MARK, parameters: { type: "object" } };
    const space = { type: "namespace", name: "ns", tools: [{ ...again, name: "inner" }] };
    const input = [
      { role: "user", content: "x" },
      { type: "additional_tools", role: "developer", tools: [again, space] },
      { type: "tool_search_output", call_id: "c", tools: [space] },
    ];
    const text = JSON.stringify(sent({ input, tools: [...TOOLS, space] }, target));
    expect(target.problem(JSON.parse(text))).toBeUndefined();
    expect(text.split('"name":"f"')).toHaveLength(2);
    expect(text.split('"name":"ns__inner"')).toHaveLength(2);
    expect(text).not.toContain("ns__inner_");
  });

  test.each([
    { name: "inner", namespace: "ns" },
    { name: "inner" },
    { name: "ns__inner" },
    { name: "ns.inner" },
    { name: "inner", namespace: "" },
  ])("a call in the history meets its tool by %o", (called) => {
    const tool = { type: "function", name: "inner", parameters: { type: "object" } };
    const input = [
      { role: "user", content: "x" },
      { type: "function_call", call_id: "c", arguments: "{}", ...called },
      { type: "function_call_output", call_id: "c", output: "done" },
    ];
    const text = JSON.stringify(sent({ input, tools: [{ type: "namespace", name: "ns", tools: [tool] }] }, target));
    expect(text.split('"ns__inner"').length).toBeGreaterThanOrEqual(3);
    expect(text).not.toContain('"inner"');
  });
});

describe("an item that is only named", () => {
  const words = { type: "message", id: "msg_1", role: "assistant", content: [{ type: "output_text", text: MARK }] };
  test.each([{ type: "item_reference", id: "msg_1" }, { id: "msg_1" }])(
    "is itself where it stands beside: %o",
    (named) => {
      const input = [{ role: "user", content: "x" }, words, named, { role: "user", content: "Go on." }];
      for (const target of TARGETS) expect(JSON.stringify(sent({ input }, target)).split(MARK)).toHaveLength(2);
    },
  );

  test("is refused where it stands nowhere", () => {
    const input = [
      { role: "user", content: "x" },
      { type: "item_reference", id: "msg_2" },
    ];
    expect(() => request({ model: "m", input })).toThrow(/input\[1\]/);
  });
});
