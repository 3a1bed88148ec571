/** Codex as it really asks: a namespace, a hosted tool, free text, ids of its own, and its whole history each turn. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { script } from "../../support/fake-upstream.js";
import { steer as steerClaude } from "../../support/fake-anthropic.js";
import { steer as steerGoogle } from "../../support/fake-gemini.js";
import { type ResponsesWorld, startResponsesWorld } from "../../support/responses-world.js";
import { checkGrammar, told, type Told } from "../../wire/openai-responses/reading.js";

const PATCH = '*** Begin Patch\n+a "quoted" line\n*** End Patch';

const TOOLS = [
  {
    type: "function",
    name: "exec_command",
    description: "Runs a command.",
    strict: false,
    parameters: { type: "object", properties: { cmd: { type: "string" } }, required: ["cmd"] },
  },
  {
    type: "custom",
    name: "apply_patch",
    description: "Edits files.",
    format: { type: "grammar", syntax: "lark", definition: "start: patch" },
  },
  {
    type: "namespace",
    name: "agents",
    description: "Other agents.",
    tools: [
      { type: "function", name: "spawn", description: "Starts one.", strict: false, parameters: { type: "object" } },
      {
        type: "function",
        name: "exec_command",
        description: "Of an agent.",
        strict: false,
        parameters: { type: "object" },
      },
    ],
  },
  { type: "web_search", external_web_access: true },
];

const text = (role: string, content: string): object => ({
  type: "message",
  role,
  id: `msg_${role}`,
  content: [{ type: "input_text", text: content }],
});

/** The body as Codex sends it: no instructions, no limits, nothing kept. */
function codex(model: string, input: readonly object[]): object {
  return {
    model,
    stream: true,
    input: [text("developer", "You are a coding agent."), ...input],
    tools: TOOLS,
    tool_choice: "auto",
    parallel_tool_calls: true,
    reasoning: { summary: "auto" },
    store: false,
    include: ["reasoning.encrypted_content"],
    prompt_cache_key: "a-thread",
    client_metadata: { "x-codex": "1" },
  };
}

const ARGUMENTS = [{ cmd: "ls" }, { input: PATCH }, {}, { n: 1 }] as const;
const NAMES = ["exec_command", "apply_patch", "agents__spawn", "agents__exec_command"];
const calls = NAMES.map((name, place) => ({ name, arguments: JSON.stringify(ARGUMENTS[place]) }));

const MODELS = [
  { model: "fake-1", asks: script({ calls }) },
  {
    model: "claude-sonnet-4-5",
    asks: steerClaude({
      blocks: NAMES.map((name, k) => ({ type: "tool_use", id: `toolu_${k}`, name, input: ARGUMENTS[k] })),
    }),
  },
  {
    model: "gemini-3-flash",
    asks: steerGoogle({ parts: NAMES.map((name, k) => ({ functionCall: { name, args: ARGUMENTS[k] } })) }),
  },
];

let world: ResponsesWorld;
beforeAll(async () => {
  world = await startResponsesWorld();
});
afterAll(() => world.close());

/** What Codex takes of a stream: each item as it ended, and the response's id. */
async function ask(body: object): Promise<{ answer: Response; bytes: string; items: Told[] }> {
  const answer = await world.post(body);
  const bytes = await answer.text();
  expect(answer.status, bytes).toBe(200);
  const items = told(bytes).flatMap((event) =>
    event["type"] === "response.output_item.done" ? [event["item"] as Told] : [],
  );
  return { answer, bytes, items };
}

describe.each(MODELS)("Codex on $model", ({ model, asks }) => {
  test("its tools reach the model, and calls come back by its own names", async () => {
    const { answer, bytes, items } = await ask(codex(model, [text("user", asks)]));
    expect(checkGrammar(bytes)).toMatchObject({ status: "completed", tools: TOOLS, store: false });
    expect(answer.headers.get("x-tollgate-dropped")).toMatch(/^tools\.web_search(, prompt_cache_key)?$/);
    expect(items).toMatchObject([
      { type: "function_call", name: "exec_command", arguments: '{"cmd":"ls"}' },
      { type: "custom_tool_call", name: "apply_patch", input: PATCH },
      { type: "function_call", name: "spawn", namespace: "agents", arguments: "{}" },
      { type: "function_call", name: "exec_command", namespace: "agents", arguments: '{"n":1}' },
    ]);
    expect(items[0]).not.toHaveProperty("namespace");
  });

  test("its history goes on, with the results of each kind of call", async () => {
    const first = await ask(codex(model, [text("user", asks)]));
    const results = first.items.map((item, place) => ({
      type: item["type"] === "custom_tool_call" ? "custom_tool_call_output" : "function_call_output",
      id: `fco_${place}`,
      call_id: item["call_id"],
      output: `result ${place}`,
    }));
    const next = [text("user", asks), ...first.items, ...results, text("user", '{"fake":{}}')];
    const { bytes, items } = await ask(codex(model, next));
    checkGrammar(bytes);
    expect(items.at(-1)).toMatchObject({ type: "message", content: [{ type: "output_text" }] });
    const { raw } = [...world.openai.requests, ...world.claude.requests, ...world.google.requests].find(
      (request) => request.raw.includes("result 3") && request.raw.includes("agents__spawn"),
    ) ?? { raw: "" };
    for (const place of [0, 1, 2, 3]) expect(raw.toString()).toContain(`result ${place}`);
  });
});

test("Codex on OpenAI itself: all of its tools pass", async () => {
  const { answer } = await ask(codex("native-1", [text("user", script({ text: "ok" }))]));
  expect(answer.headers.get("x-tollgate-dropped")).toBeNull();
  expect(world.openai.requests.at(-1)?.body).toMatchObject({ tools: TOOLS, client_metadata: { "x-codex": "1" } });
});

test("Codex where its search has no price: the search is left out and named, and the rest passes", async () => {
  const { answer } = await ask(codex("unsearched-1", [text("user", script({ text: "ok" }))]));
  expect(answer.headers.get("x-tollgate-dropped")).toBe("tools.web_search");
  const left = TOOLS.filter(({ type }) => type !== "web_search");
  expect(world.openai.requests.at(-1)?.body).toMatchObject({ tools: left });
  const chosen = { model: "unsearched-1", input: "a", tools: TOOLS, tool_choice: { type: "web_search" } };
  const refused = await world.post(chosen);
  expect(refused.status).toBe(400);
  expect(await refused.text()).toContain("price.tools");
});

test("a choice that only OpenAI could make is refused elsewhere", async () => {
  const body = { model: "fake-1", input: "a", tools: TOOLS, tool_choice: { type: "web_search" } };
  const answer = await world.post(body);
  expect(answer.status).toBe(400);
  expect(await answer.json()).toMatchObject({ error: { param: "tool_choice", code: "unsupported_parameter" } });
  const natively = await world.post({ ...body, model: "native-1" });
  expect(natively.status).toBe(200);
});
