/** What the fake upstream says as OpenAI's responses do, built apart from the program's own code. */
import type { AnswerScript } from "./fake-answer.js";

const CREATED = 1_700_000_000;
/** What only OpenAI can read. */
export const FAKE_ENCRYPTED = "gAAAA_fake-encrypted==";

type Item = Readonly<Record<string, unknown>>;

export function responseJson(script: AnswerScript, body: unknown): string {
  return JSON.stringify(whole(script, body, endOf(script)));
}

/** What stands for a conversation from then on. */
export function compactionJson(script: AnswerScript): string {
  const item = { id: "cmp_1", type: "compaction", encrypted_content: FAKE_ENCRYPTED };
  const named = { id: "resp_0fake", object: "response.compaction", created_at: CREATED };
  return JSON.stringify({ ...named, output: [item], usage: usageOf(script) });
}

/** The events of a stream. Each word is one. */
export function* responseEvents(script: AnswerScript, body: unknown): Generator<string, void> {
  let sequence = 0;
  const event = (type: string, members: object): string =>
    `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence++, ...members, ...paddingOf(type) })}\n\n`;
  const begun = { ...whole(script, body, "in_progress"), output: [], usage: null };
  yield event("response.created", { response: begun });
  yield event("response.in_progress", { response: begun });
  const items = itemsOf(script, body);
  for (const [index, item] of items.entries()) {
    const at = { item_id: item["id"], output_index: index };
    const opened = { ...item, content: [], arguments: "", summary: [], status: "in_progress" };
    const shown = Object.fromEntries(Object.entries(opened).filter(([key]) => key in item));
    yield event("response.output_item.added", { output_index: index, item: shown });
    if (item["type"] === "message") yield* message(item, at, event);
    if (item["type"] === "function_call") {
      for (const delta of String(item["arguments"]).match(/[^]{1,5}/g) ?? [])
        yield event("response.function_call_arguments.delta", { ...at, delta });
      yield event("response.function_call_arguments.done", { ...at, name: item["name"], arguments: item["arguments"] });
    }
    yield event("response.output_item.done", { output_index: index, item });
  }
  const end = endOf(script);
  yield event(`response.${end}`, { response: whole(script, body, end) });
}

/** Only what comes in pieces is padded. */
function paddingOf(type: string): object {
  return type.endsWith(".delta") ? { obfuscation: "x1y" } : {};
}

function endOf(script: AnswerScript): string {
  return script.finish === "length" ? "incomplete" : "completed";
}

function* message(item: Item, at: object, event: (type: string, members: object) => string): Generator<string, void> {
  const [part] = item["content"] as readonly { readonly text: string }[];
  const place = { ...at, content_index: 0 };
  yield event("response.content_part.added", { ...place, part: { ...part, text: "" } });
  for (const delta of part?.text.match(/\s*\S+/g) ?? [])
    yield event("response.output_text.delta", { ...place, delta, logprobs: [] });
  yield event("response.output_text.done", { ...place, text: part?.text, logprobs: [] });
  yield event("response.content_part.done", { ...place, part });
}

function itemsOf(script: AnswerScript, body: unknown): Item[] {
  const thought = { type: "summary_text", text: script.thinking };
  const thoughts =
    script.thinking === undefined
      ? []
      : [{ id: "rs_0f", type: "reasoning", summary: [thought], encrypted_content: FAKE_ENCRYPTED }];
  if (script.calls !== undefined) {
    const calls = script.calls.map(({ name, arguments: text }, k) => {
      const ids = { id: `fc_0${k}`, call_id: `call_fake_${k}` };
      return { type: "function_call", status: "completed", name, arguments: text, ...ids };
    });
    return [...thoughts, ...calls];
  }
  const words = script.words ?? 0;
  const spoken = words > 0 ? Array.from({ length: words }, (_, i) => `word${i}`).join(" ") : undefined;
  const text = spoken ?? script.text ?? `Hello from ${String(Reflect.get(Object(body), "model"))}.`;
  const part = { type: "output_text", annotations: [], logprobs: [], text };
  return [...thoughts, { id: "msg_01", type: "message", status: "completed", role: "assistant", content: [part] }];
}

function whole(script: AnswerScript, body: unknown, status: string): object {
  return {
    // Histories tell answers apart by their ids.
    id: `resp_${String(script.members?.["id"] ?? "0fake")}`,
    object: "response",
    created_at: CREATED,
    status,
    error: null,
    access_programs: null,
    background: false,
    billing: { payer: "fake" },
    instructions: null,
    metadata: {},
    temperature: 1,
    tool_choice: "auto",
    top_p: 1,
    incomplete_details: status === "incomplete" ? { reason: "max_output_tokens" } : null,
    model: Reflect.get(Object(body), "model"),
    output: itemsOf(script, body),
    parallel_tool_calls: true,
    store: true,
    tools: toolsOf(body),
    usage: usageOf(script),
  };
}

/** What OpenAI tells of a tool that the request leaves out. */
const OF_TOOLS: Readonly<Record<string, object>> = {
  function: { parameters: null, strict: true },
  namespace: { description: "" },
};

function toolsOf(body: unknown): object[] {
  const tools = (Reflect.get(Object(body), "tools") ?? []) as readonly { type: string }[];
  return tools.map((tool) => Object.assign({}, OF_TOOLS[tool.type], tool));
}

function usageOf(script: AnswerScript): object {
  return {
    input_tokens: 10,
    input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
    output_tokens: 4,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 14,
    ...script.usageIs,
  };
}
