/** Anthropic's messages as the strict upstream speaks them. */
import { anthropicProblem, PROOF } from "../../support/anthropic-rules.js";
import { type Call, type End, line, type Reply, type Seen } from "../scenario.js";
import { type Answering, fragments, type Json, object, objects, SECRET, type Speaker } from "./scripted-upstream.js";

const STOPS: Readonly<Record<End, string>> = {
  end: "end_turn",
  stop: "stop_sequence",
  length: "max_tokens",
  calls: "tool_use",
  blocked: "refusal",
};

export const anthropicSpeaker: Speaker = {
  isProven: ({ headers }) => headers["x-api-key"] === SECRET,
  problem: ({ url, headers, body }) => anthropicProblem(url, headers, body) ?? proofProblem(body),
  refusal: (_status, message) => ({
    type: "error",
    error: { type: "invalid_request_error", message },
    request_id: "req_of_the_upstream",
  }),
  model: ({ body }) => String(body["model"]),
  isStream: ({ body }) => body["stream"] === true,
  read: readRequest,
  whole: (answering) => ({
    ...head(answering),
    content: blocksOf(answering),
    ...stopOf(answering.reply),
    usage: { ...usageOf(answering.reply), ...UNCOUNTED },
  }),
  stream: (answering) =>
    eventsOf(answering)
      .map((event) => eventText(event))
      .join(""),
};

function head({ id, model }: Answering): object {
  return { id: `msg_${id}`, type: "message", role: "assistant", model, container: null, diagnostics: null };
}

function stopOf({ end, stopString, refusal }: Reply): object {
  const details = { type: "refusal", category: null, explanation: refusal ?? null };
  return {
    stop_reason: STOPS[end],
    stop_sequence: stopString ?? null,
    stop_details: end === "blocked" ? details : null,
    container: null,
  };
}

function usageOf({ tokens }: Reply): object {
  return {
    input_tokens: tokens.input,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: tokens.cacheRead,
    output_tokens: tokens.output + tokens.reasoning,
    output_tokens_details: { thinking_tokens: tokens.reasoning },
    server_tool_use: null,
  };
}

/** What the usage of a message says beside its counts. */
const UNCOUNTED = { cache_creation: null, inference_geo: null, service_tier: "standard", speed: null };

/** A proof is base64, and another for each thought: it proves its own and no other. */
export function proofOf(id: string, thinking: string): string {
  return PROOF + Buffer.from(`${id} ${thinking}`).toString("base64");
}

export function proves(signature: unknown, thinking: string): boolean {
  const proved = Buffer.from(String(signature).slice(PROOF.length), "base64").toString();
  return proved.slice(proved.indexOf(" ") + 1) === thinking;
}

function proofProblem(body: Json): string | undefined {
  const blocks = objects(body["messages"]).flatMap(({ content }) => blocksIn(content));
  const wrong = blocks.some(
    ({ type, thinking, signature }) => type === "thinking" && !proves(signature, String(thinking)),
  );
  return wrong ? "Invalid `signature` in `thinking` block" : undefined;
}

function blocksOf({ reply, id }: Answering): Json[] {
  const { thinking, text = "", calls = [] } = reply;
  return [
    ...(thinking === undefined ? [] : [{ type: "thinking", thinking, signature: proofOf(id, thinking) }]),
    ...(text === "" ? [] : [{ type: "text", text }]),
    ...calls.map((call, place) => ({
      type: "tool_use",
      id: `toolu_${id}_${place}`,
      name: call.name,
      input: call.arguments,
      caller: { type: "direct" },
    })),
  ];
}

function eventsOf(answering: Answering): object[] {
  const usage = usageOf(answering.reply);
  const begun = { ...head(answering), content: [], stop_reason: null, stop_sequence: null, stop_details: null };
  return [
    { type: "message_start", message: { ...begun, usage: { ...usage, ...UNCOUNTED, output_tokens: 1 } } },
    { type: "ping" },
    ...blocksOf(answering).flatMap(blockEvents),
    { type: "message_delta", delta: stopOf(answering.reply), usage },
    { type: "message_stop" },
  ];
}

function blockEvents(block: Json, index: number): object[] {
  const opening = Object.assign({}, block, EMPTY[String(block["type"])]);
  const told = deltasOf(block).map((delta): object => ({ type: "content_block_delta", index, delta }));
  return [
    { type: "content_block_start", index, content_block: opening },
    ...told,
    { type: "content_block_stop", index },
  ];
}

/** What stands in the start of a block before its deltas come. */
const EMPTY: Readonly<Record<string, object>> = {
  text: { text: "" },
  thinking: { thinking: "", signature: "" },
  tool_use: { input: {} },
};

function deltasOf(block: Json): object[] {
  if (block["type"] === "text") return fragments(String(block["text"])).map((text) => ({ type: "text_delta", text }));
  if (block["type"] === "thinking")
    return [
      ...fragments(String(block["thinking"])).map((thinking) => ({ type: "thinking_delta", thinking })),
      { type: "signature_delta", signature: block["signature"] },
    ];
  const json = JSON.stringify(block["input"]);
  const told = json === "{}" ? [""] : ["", ...fragments(json)];
  return told.map((fragment) => ({ type: "input_json_delta", partial_json: fragment }));
}

function eventText(event: object): string {
  return `event: ${String(Reflect.get(event, "type"))}\ndata: ${JSON.stringify(event)}\n\n`;
}

function readRequest(body: Json): Seen {
  const calls = new Map<string, Call>();
  const format = object(object(body["output_config"])["format"]);
  const thinking = object(body["thinking"])["type"];
  return {
    said: [
      ...blocksIn(body["system"]).map((block) => line.system(String(block["text"]))),
      ...objects(body["messages"]).flatMap(({ role, content }) =>
        blocksIn(content).flatMap((block) => readBlock(block, String(role), calls)),
      ),
    ],
    tools: objects(body["tools"]).map(({ name, description, input_schema: schema }) => ({
      name: String(name),
      description: String(description),
      parameters: object(schema),
    })),
    schema: format["schema"],
    stop: (body["stop_sequences"] ?? []) as string[],
    outputTokensMax: body["max_tokens"] as number,
    thinks: thinking === "enabled" || thinking === "adaptive",
  };
}

function blocksIn(content: unknown): readonly Json[] {
  if (content === undefined) return [];
  return typeof content === "string" ? [{ type: "text", text: content }] : objects(content);
}

function readBlock(block: Json, role: string, calls: Map<string, Call>): string[] {
  switch (block["type"]) {
    case "text":
      return [
        role === "assistant"
          ? line.model(String(block["text"]))
          : line[role === "system" ? "system" : "user"](String(block["text"])),
      ];
    case "thinking":
      return [line.thought(String(block["thinking"]))];
    case "image": {
      const { media_type: mediaType, data } = object(block["source"]);
      return [line.image(String(mediaType), String(data))];
    }
    case "tool_use": {
      const call = { name: String(block["name"]), arguments: object(block["input"]) };
      calls.set(String(block["id"]), call);
      return [line.call(call)];
    }
    case "tool_result": {
      const texts = blocksIn(block["content"]).map(({ text }) => String(text));
      return [line.result(calls.get(String(block["tool_use_id"])), texts.join(""))];
    }
    default:
      return [`something else: ${JSON.stringify(block)}`];
  }
}
