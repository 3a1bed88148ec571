/** What streams of every wire may hold: events that vendors document, and others, each with what it brings. */
import { frameOf } from "../support/fake-bedrock.js";
import { RUNNING, type RunningCount } from "./running-counts.js";

type Json = Readonly<Record<string, unknown>>;

/** How an event of some words, or of as many tokens of sound, is written. */
export interface Bringing {
  readonly name: string;
  readonly price: "output" | "audio";
  write(size: number, place: number): readonly Json[];
  /** The tokens of an event whose size changes nothing, such as a picture. */
  readonly tokens?: number;
  /** True of a call of a tool that the upstream runs. */
  readonly isHosted?: boolean;
  /** True of what no list knows. */
  readonly isUnknown?: boolean;
}

export interface StreamShape {
  frame(event: Json): Buffer;
  readonly head: readonly Json[];
  readonly brings: readonly Bringing[];
  /** Events that bring nothing. */
  readonly quiet: readonly Json[];
  /** `told` is what the end tells of tools beside the usage. */
  end(usage: { readonly input: number; readonly output: number } | undefined, told?: Json): readonly Json[];
  readonly mark: string;
  /** What a chunk tells of all that came so far, where a server of the wire does. */
  readonly running?: readonly RunningCount[];
}

export const words = (count: number): string => " word".repeat(count);
/** Sound of 24,000 samples of two bytes a second: so many tokens of it. */
const sound = (tokens: number): string => Buffer.alloc(tokens * 2_400).toString("base64");

const sse = (event: Json): Buffer => {
  const name = typeof event["type"] === "string" ? `event: ${event["type"]}\n` : "";
  return Buffer.from(`${name}data: ${JSON.stringify(event)}\n\n`);
};

const brings = (name: string, write: (text: string, place: number) => readonly Json[]): Bringing => ({
  name,
  price: "output",
  write: (size, place) => write(words(size), place),
});
const unknown = (name: string, write: (text: string, place: number) => readonly Json[]): Bringing => ({
  ...brings(name, write),
  // What stands beside an answer and says the same again counts once.
  write: (size, place) => write(`${words(size)} ${place}`, place),
  isUnknown: true,
});
const sounds = (name: string, write: (base64: string, place: number) => readonly Json[]): Bringing => ({
  name,
  price: "audio",
  write: (size, place) => write(sound(size), place),
});

const at = (place: number): Json => ({ item_id: `i${place}`, output_index: place, content_index: 0, summary_index: 0 });
const delta = (type: string): Bringing => brings(type, (text, place) => [{ type, ...at(place), delta: text }]);
const done = (type: string, member: string): Bringing =>
  brings(type, (text, place) => [{ type, ...at(place), [member]: text }]);
const opened = (type: string, item: Json, member: string): Bringing =>
  brings(`${type} of an item that was opened`, (text, place) => [
    { type: "response.output_item.added", output_index: place, item: { id: `i${place}`, ...item } },
    { type, ...at(place), [member]: text },
  ]);
const item = (name: string, of: (text: string) => Json): Bringing =>
  brings(`item: ${name}`, (text, place) => [
    { type: "response.output_item.done", output_index: place, item: { id: `i${place}`, ...of(text) } },
  ]);
const added = (name: string, of: (text: string) => Json): Bringing =>
  brings(`item that begins with all of it: ${name}`, (text, place) => [
    { type: "response.output_item.added", output_index: place, item: { id: `i${place}`, ...of(text) } },
  ]);
const shellCall = (text: string): Json => ({ type: "shell_call", call_id: "c", action: { commands: [text] } });
const call = { type: "function_call", call_id: "c", name: "f", arguments: "" };

const responses: StreamShape = {
  frame: sse,
  head: [{ type: "response.created", response: { id: "x", object: "response", status: "in_progress", output: [] } }],
  brings: [
    delta("response.output_text.delta"),
    delta("response.refusal.delta"),
    delta("response.reasoning_text.delta"),
    delta("response.reasoning_summary_text.delta"),
    delta("response.function_call_arguments.delta"),
    opened("response.function_call_arguments.delta", call, "delta"),
    delta("response.custom_tool_call_input.delta"),
    delta("response.mcp_call_arguments.delta"),
    delta("response.code_interpreter_call_code.delta"),
    delta("response.apply_patch_call_operation_diff.delta"),
    delta("response.shell_call_command.delta"),
    delta("response.audio.transcript.delta"),
    sounds("response.audio.delta", (base64) => [{ type: "response.audio.delta", delta: base64 }]),
    done("response.output_text.done", "text"),
    done("response.refusal.done", "refusal"),
    done("response.reasoning_text.done", "text"),
    done("response.reasoning_summary_text.done", "text"),
    done("response.function_call_arguments.done", "arguments"),
    opened("response.function_call_arguments.done", call, "arguments"),
    done("response.custom_tool_call_input.done", "input"),
    done("response.mcp_call_arguments.done", "arguments"),
    done("response.code_interpreter_call_code.done", "code"),
    done("response.apply_patch_call_operation_diff.done", "diff"),
    done("response.shell_call_command.done", "command"),
    brings("response.content_part.done", (text, place) => [
      { type: "response.content_part.done", ...at(place), part: { type: "output_text", text, annotations: [] } },
    ]),
    brings("response.reasoning_summary_part.done", (text, place) => [
      { type: "response.reasoning_summary_part.done", ...at(place), part: { type: "summary_text", text } },
    ]),
    brings("response.output_text.annotation.added", (text, place) => [
      {
        type: "response.output_text.annotation.added",
        ...at(place),
        annotation: { type: "url_citation", title: text },
      },
    ]),
    {
      name: "response.image_generation_call.partial_image",
      price: "output",
      tokens: 100,
      isHosted: true,
      write: (_, place) => [
        { type: "response.image_generation_call.partial_image", ...at(place), partial_image_b64: "aGk=" },
      ],
    },
    item("message", (text) => ({ type: "message", content: [{ type: "output_text", text, annotations: [] }] })),
    item("function_call", (text) => ({ ...call, arguments: text })),
    { ...item("shell_call", shellCall), isHosted: true },
    item("apply_patch_call", (diff) => ({ type: "apply_patch_call", call_id: "c", operation: { diff } })),
    item("compaction", (text) => ({ type: "compaction", encrypted_content: text.repeat(2) })),
    added("message", (text) => ({ type: "message", content: [{ type: "output_text", text, annotations: [] }] })),
    added("function_call", (text) => ({ ...call, arguments: text })),
    { ...added("shell_call", shellCall), isHosted: true },
    unknown("an item of tomorrow", (text, place) => [
      { type: "response.output_item.done", output_index: place, item: { type: "of_tomorrow", body: text } },
    ]),
    unknown("an event of tomorrow", (text) => [{ type: "response.of_tomorrow.delta", delta: text }]),
    unknown("a part of tomorrow", (text, place) => [
      { type: "response.content_part.done", ...at(place), part: { type: "of_tomorrow", body: text } },
    ]),
  ],
  quiet: [
    { type: "response.in_progress", response: { id: "x" } },
    { type: "response.mcp_list_tools.in_progress", output_index: 90, item_id: "w" },
    {
      type: "response.content_part.added",
      output_index: 91,
      content_index: 0,
      part: { type: "output_text", text: "" },
    },
    { type: "keepalive" },
  ],
  end(usage, told) {
    const counts = usage && {
      input_tokens: usage.input,
      output_tokens: usage.output,
      total_tokens: usage.input + usage.output,
      ...told,
    };
    const response = { id: "x", object: "response", status: "completed", output: [], usage: counts };
    return [{ type: "response.completed", response }];
  },
  mark: "",
};

const choice = (members: Json): Json => ({ id: "x", choices: [{ index: 0, finish_reason: null, ...members }] });
const chatUsage = (
  usage: { readonly input: number; readonly output: number } | undefined,
  told?: Json,
): readonly Json[] =>
  usage === undefined
    ? []
    : [
        {
          id: "x",
          choices: [],
          usage: {
            prompt_tokens: usage.input,
            completion_tokens: usage.output,
            total_tokens: usage.input + usage.output,
            ...told,
          },
        },
      ];
const told = (name: string, of: (text: string) => unknown = (text) => text): Bringing =>
  brings(`delta.${name}`, (text) => [choice({ delta: { [name]: of(text) } })]);
const strange = (name: string, of: (text: string) => unknown = (text) => text): Bringing => ({
  ...told(name, of),
  isUnknown: true,
});

const chat: StreamShape = {
  frame: sse,
  running: RUNNING,
  head: [choice({ delta: { role: "assistant", content: "" } })],
  brings: [
    told("content"),
    told("refusal"),
    told("reasoning"),
    told("reasoning_content"),
    told("reasoning_text"),
    told("thinking"),
    told("thinking_blocks", (thinking) => [{ type: "thinking", thinking }]),
    told("reasoning_details", (text) => [{ type: "reasoning.text", text }]),
    told("tool_calls", (text) => [{ index: 0, id: "c", function: { name: "f", arguments: text } }]),
    told("function_call", (text) => ({ name: "f", arguments: text })),
    { ...told("executed_tools", (text) => [{ index: 0, type: "python", arguments: text }]), isHosted: true },
    told("annotations", (title) => [{ type: "url_citation", url_citation: { title } }]),
    told("content", (text) => [{ type: "thinking", thinking: [{ type: "text", text }] }]),
    told("audio", (transcript) => ({ id: "a", transcript })),
    sounds("delta.audio", (data) => [choice({ delta: { audio: { id: "a", data } } })]),
    {
      name: "delta.images",
      price: "output",
      tokens: 1_056,
      write: () => [choice({ delta: { images: [{ type: "image_url", image_url: { url: "data:;base64,aGk=" } }] } })],
    },
    strange("of_tomorrow"),
    strange("thinking_of_tomorrow", (text) => ({ nested: [text] })),
    unknown("a member of a choice", (text) => [choice({ delta: {}, of_tomorrow: text })]),
    unknown("a member of a chunk", (text) => [{ ...choice({ delta: {} }), of_tomorrow: text }]),
    unknown("a member of a call", (text) => [choice({ delta: { tool_calls: [{ index: 0, of_tomorrow: text }] } })]),
  ],
  quiet: [choice({ delta: {} }), { id: "x", choices: [], prompt_filter_results: [{ prompt_index: 0 }] }],
  end: (usage, more) => [choice({ delta: {}, finish_reason: "stop" }), ...chatUsage(usage, more)],
  mark: "data: [DONE]\n\n",
};

const completions: StreamShape = {
  frame: sse,
  running: RUNNING,
  head: [choice({ text: "" })],
  brings: [
    brings("text", (text) => [choice({ text })]),
    unknown("a member of a choice", (text) => [choice({ text: "", of_tomorrow: text })]),
    unknown("a member of a chunk", (text) => [{ ...choice({ text: "" }), of_tomorrow: text }]),
  ],
  quiet: [choice({ text: "" })],
  end: (usage, more) => [choice({ text: "", finish_reason: "stop" }), ...chatUsage(usage, more)],
  mark: "data: [DONE]\n\n",
};

const block = (name: string, start: Json, of: (text: string) => Json): Bringing =>
  brings(name, (text, index) => [
    { type: "content_block_start", index, content_block: start },
    { type: "content_block_delta", index, delta: of(text) },
    { type: "content_block_stop", index },
  ]);
const begun = (name: string, of: (text: string) => Json): Bringing =>
  brings(`block that begins with all of it: ${name}`, (text, index) => [
    { type: "content_block_start", index, content_block: of(text) },
    { type: "content_block_stop", index },
  ]);
const SAYS = { type: "text", text: "" };
const HOSTED = { type: "server_tool_use", id: "s", name: "web_search", input: {} };

const anthropic: StreamShape = {
  frame: sse,
  head: [
    {
      type: "message_start",
      message: { id: "m", type: "message", content: [], usage: { input_tokens: 9, output_tokens: 1 } },
    },
  ],
  brings: [
    block("text", SAYS, (text) => ({ type: "text_delta", text })),
    block("thinking", { type: "thinking", thinking: "" }, (thinking) => ({ type: "thinking_delta", thinking })),
    block("input", { type: "tool_use", id: "t", name: "f", input: {} }, (text) => ({
      type: "input_json_delta",
      partial_json: text,
    })),
    { ...block("hosted input", HOSTED, (text) => ({ type: "input_json_delta", partial_json: text })), isHosted: true },
    block("citation", SAYS, (title) => ({ type: "citations_delta", citation: { title } })),
    block("compaction", { type: "compaction", content: null }, (content) => ({ type: "compaction_delta", content })),
    begun("text", (text) => ({ type: "text", text })),
    begun("call", (text) => ({ type: "tool_use", id: "t", name: "f", input: { text } })),
    { ...begun("hosted call", (text) => ({ ...HOSTED, input: { query: text } })), isHosted: true },
    begun("sealed thought", (text) => ({ type: "redacted_thinking", data: text.repeat(2) })),
    { ...begun("of tomorrow", (body) => ({ type: "of_tomorrow", body })), isUnknown: true },
    { ...block("a delta of tomorrow", SAYS, (body) => ({ type: "of_tomorrow", body })), isUnknown: true },
    unknown("an event of tomorrow", (body) => [{ type: "of_tomorrow", body }]),
  ],
  quiet: [{ type: "ping" }],
  end: (usage, more) => [
    {
      type: "message_delta",
      delta: { stop_reason: "end_turn" },
      ...(usage === undefined ? {} : { usage: { input_tokens: usage.input, output_tokens: usage.output, ...more } }),
    },
    { type: "message_stop" },
  ],
  mark: "",
};

const part = (members: Json): Json => ({ candidates: [{ index: 0, content: { role: "model", parts: [members] } }] });
const parts = (name: string, of: (text: string) => Json): Bringing =>
  brings(`part.${name}`, (text) => [part(of(text))]);

const gemini: StreamShape = {
  frame: sse,
  head: [],
  brings: [
    parts("text", (text) => ({ text })),
    parts("thought", (text) => ({ text, thought: true })),
    parts("functionCall", (text) => ({ functionCall: { name: "f", args: { text } } })),
    parts("functionCall in pieces", (text) => ({
      functionCall: { name: "f", partialArgs: [{ jsonPath: "$.t", stringValue: text }], willContinue: true },
    })),
    parts("executableCode", (code) => ({ executableCode: { language: "PYTHON", code } })),
    sounds("part.inlineData", (data) => [part({ inlineData: { mimeType: "audio/pcm", data } })]),
    {
      name: "part.inlineData of a picture",
      price: "output",
      tokens: 1_056,
      write: () => [part({ inlineData: { mimeType: "image/png", data: "aGk=" } })],
    },
    { ...parts("of tomorrow", (body) => ({ ofTomorrow: body })), isUnknown: true },
    { ...parts("text with more", (body) => ({ text: "", ofTomorrow: body })), isUnknown: true },
    unknown("a member of a candidate", (body) => [{ candidates: [{ index: 0, ofTomorrow: body }] }]),
    unknown("a member of a chunk", (body) => [{ candidates: [], ofTomorrow: body }]),
  ],
  quiet: [part({ text: "" }), { candidates: [{ index: 0, safetyRatings: [{ category: "HARM" }] }] }],
  end: (usage, more) => [
    {
      ...(usage === undefined
        ? {}
        : {
            usageMetadata: {
              promptTokenCount: usage.input,
              candidatesTokenCount: usage.output,
              totalTokenCount: usage.input + usage.output,
            },
          }),
      candidates: [{ index: 0, content: { parts: [{ text: "" }] }, finishReason: "STOP", ...more }],
    },
  ],
  mark: "",
};

const piece = (name: string, of: (text: string) => Json): Bringing =>
  brings(`delta.${name}`, (text, place) => [
    { contentBlockDelta: { contentBlockIndex: place, delta: of(text) } },
    { contentBlockStop: { contentBlockIndex: place } },
  ]);

const bedrock: StreamShape = {
  frame: (event) => Buffer.concat(Object.entries(event).map(([type, body]) => frameOf(type, body as object))),
  head: [{ messageStart: { role: "assistant" } }],
  brings: [
    piece("text", (text) => ({ text })),
    piece("thought", (text) => ({ reasoningContent: { text } })),
    piece("sealed thought", (text) => ({
      reasoningContent: { redactedContent: Buffer.from(text.repeat(2)).toString("base64") },
    })),
    brings("delta.toolUse", (input, place) => [
      { contentBlockStart: { contentBlockIndex: place, start: { toolUse: { name: "f", toolUseId: "t" } } } },
      { contentBlockDelta: { contentBlockIndex: place, delta: { toolUse: { input } } } },
    ]),
    piece("toolUse that never began", (input) => ({ toolUse: { input } })),
    piece("citation", (title) => ({ citation: { title } })),
    { ...piece("of tomorrow", (body) => ({ ofTomorrow: body })), isUnknown: true },
    unknown("a block of tomorrow", (body, place) => [
      { contentBlockStart: { contentBlockIndex: place, start: { ofTomorrow: { body } } } },
    ]),
    unknown("an event of tomorrow", (body) => [{ ofTomorrow: { body } }]),
  ],
  quiet: [{ contentBlockStop: { contentBlockIndex: 0 } }],
  end: (usage) => [
    { messageStop: { stopReason: "end_turn" } },
    ...(usage === undefined
      ? []
      : [
          {
            metadata: {
              usage: {
                inputTokens: usage.input,
                outputTokens: usage.output,
                totalTokens: usage.input + usage.output,
              },
            },
          },
        ]),
  ],
  mark: "",
};

export const STREAMS = {
  "openai-chat": chat,
  "openai-completions": completions,
  "openai-responses": responses,
  anthropic,
  gemini,
  "bedrock-converse": bedrock,
} as const satisfies Record<string, StreamShape>;
