/** OpenAI's responses as the strict upstream speaks them. */
import { responsesProblem } from "../../support/responses-rules.js";
import { type Call, line, type Reply, type Seen } from "../scenario.js";
import {
  type Answering,
  argumentsIn,
  fragments,
  type Json,
  object,
  objects,
  SECRET,
  type Speaker,
} from "./scripted-upstream.js";

export const responsesSpeaker: Speaker = {
  isProven: ({ headers }) => headers["authorization"] === `Bearer ${SECRET}`,
  problem: ({ body }) => responsesProblem(body)?.message,
  refusal: (_status, message, received) => ({
    error: {
      message,
      type: "invalid_request_error",
      param: responsesProblem(received.body)?.param ?? null,
      code: "unknown_parameter",
    },
  }),
  model: ({ body }) => String(body["model"]),
  isStream: ({ body }) => body["stream"] === true,
  read: readRequest,
  whole: (answering) => responseOf(answering, itemsOf(answering)),
  stream: (answering) =>
    eventsOf(answering)
      .map((event, place) => Object.assign({}, event, { sequence_number: place }))
      .map((event) => `event: ${String(event["type"])}\ndata: ${JSON.stringify(event)}\n\n`)
      .join(""),
};

/** The response; without items it has only begun. */
function responseOf({ id, model, reply }: Answering, output: readonly Json[] | undefined): Json {
  const isCut = reply.end === "length";
  const status = output === undefined ? "in_progress" : isCut ? "incomplete" : "completed";
  return {
    id: `resp_${id}`,
    object: "response",
    created_at: 1_790_000_000,
    status,
    error: null,
    incomplete_details: output !== undefined && isCut ? { reason: "max_output_tokens" } : null,
    instructions: null,
    max_output_tokens: null,
    model,
    output: output ?? [],
    access_programs: null,
    parallel_tool_calls: true,
    previous_response_id: null,
    reasoning: { effort: null, summary: null },
    store: false,
    temperature: 1,
    text: { format: { type: "text" } },
    tool_choice: "auto",
    tools: [],
    top_p: 1,
    truncation: "disabled",
    usage: output === undefined ? null : usageOf(reply),
    user: null,
    metadata: {},
  };
}

function usageOf({ tokens }: Reply): object {
  const { input, cacheRead, output, reasoning } = tokens;
  return {
    input_tokens: input + cacheRead,
    input_tokens_details: { cached_tokens: cacheRead, cache_write_tokens: 0 },
    output_tokens: output + reasoning,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: input + cacheRead + output + reasoning,
  };
}

function itemsOf({ id, reply }: Answering): Json[] {
  const { thinking, text, refusal, calls = [] } = reply;
  const items: Json[] = [];
  if (thinking !== undefined) {
    const own = `rs_${id}`;
    const summary = [{ type: "summary_text", text: thinking }];
    items.push({ id: own, type: "reasoning", summary, encrypted_content: `sealed ${own}` });
  }
  const parts = [
    ...(text === undefined ? [] : [{ type: "output_text", text, annotations: [], logprobs: [] }]),
    ...(refusal === undefined ? [] : [{ type: "refusal", refusal }]),
  ];
  const status = reply.end === "length" ? "incomplete" : "completed";
  if (parts.length > 0) items.push({ id: `msg_${id}`, type: "message", role: "assistant", status, content: parts });
  for (const [place, { name, arguments: told }] of calls.entries())
    items.push({
      id: `fc_${id}_${place}`,
      type: "function_call",
      status,
      call_id: `call_${id}_${place}`,
      name,
      arguments: JSON.stringify(told),
    });
  return items;
}

function eventsOf(answering: Answering): Json[] {
  const items = itemsOf(answering);
  const begun = responseOf(answering, undefined);
  const whole = responseOf(answering, items);
  return [
    { type: "response.created", response: begun },
    { type: "response.in_progress", response: begun },
    ...items.flatMap(itemEvents),
    { type: `response.${String(whole["status"])}`, response: whole },
  ];
}

function itemEvents(item: Json, index: number): Json[] {
  const opened = Object.assign({}, item, { status: "in_progress" }, OPENED[String(item["type"])]);
  return [
    { type: "response.output_item.added", output_index: index, item: opened },
    ...deltasOf(item).map((event) => Object.assign({ item_id: item["id"], output_index: index }, event)),
    { type: "response.output_item.done", output_index: index, item },
  ];
}

/** What an item holds before its deltas come. */
const OPENED: Readonly<Record<string, object>> = {
  message: { content: [] },
  reasoning: { summary: [], encrypted_content: "" },
  function_call: { arguments: "" },
};

function deltasOf(item: Json): Json[] {
  if (item["type"] === "function_call") {
    const text = String(item["arguments"]);
    return grown("response.function_call_arguments", text, { arguments: text, name: item["name"] }, {});
  }
  const isThought = item["type"] === "reasoning";
  return objects(item[isThought ? "summary" : "content"]).flatMap((part, place): Json[] => {
    const type = String(part["type"]);
    const at = isThought ? { summary_index: place } : { content_index: place };
    const field = type === "refusal" ? "refusal" : "text";
    const text = String(part[field]);
    const name = isThought ? "reasoning_summary_text" : type === "refusal" ? "refusal" : "output_text";
    const partName = isThought ? "reasoning_summary_part" : "content_part";
    const opening: Json = { type: `response.${partName}.added`, ...at, part: Object.assign({}, part, { [field]: "" }) };
    const told = grown(
      `response.${name}`,
      text,
      { [field]: text },
      name === "output_text" ? { ...at, logprobs: [] } : at,
    );
    return [opening].concat(told, { type: `response.${partName}.done`, ...at, part });
  });
}

function grown(type: string, text: string, done: object, at: object): Json[] {
  const deltas = fragments(text).map((delta): Json => Object.assign({ type: `${type}.delta`, delta }, at));
  return [...deltas, { type: `${type}.done`, ...at, ...done }];
}

function readRequest(body: Json): Seen {
  const calls = new Map<string, Call>();
  const { input, instructions } = body;
  const items = typeof input === "string" ? [{ role: "user", content: input }] : objects(input);
  const format = object(object(body["text"])["format"]);
  const effort = object(body["reasoning"])["effort"];
  return {
    said: [
      ...(typeof instructions === "string" ? [line.system(instructions)] : []),
      ...items.flatMap((item) => readItem(item, calls)),
    ],
    tools: objects(body["tools"]).map(({ name, description, parameters }) => ({
      name: String(name),
      description: String(description),
      parameters: object(parameters),
    })),
    schema: format["type"] === "json_schema" ? format["schema"] : undefined,
    stop: [],
    outputTokensMax: body["max_output_tokens"] as number | undefined,
    thinks: effort !== undefined && effort !== null && effort !== "none",
  };
}

function readItem(item: Json, calls: Map<string, Call>): string[] {
  switch (item["type"] ?? "message") {
    case "reasoning":
      return [
        line.thought(
          objects(item["summary"])
            .map(({ text }) => String(text))
            .join(""),
        ),
      ];
    case "function_call": {
      const call = { name: String(item["name"]), arguments: argumentsIn(item["arguments"]) };
      calls.set(String(item["call_id"]), call);
      return [line.call(call)];
    }
    case "function_call_output":
      return [line.result(calls.get(String(item["call_id"])), String(item["output"]))];
    default: {
      const { role, content } = item;
      const parts = typeof content === "string" ? [{ type: "input_text", text: content }] : objects(content);
      const texts = parts.map((part) => String(object(part)["text"] ?? ""));
      if (role === "assistant") return texts.join("") === "" ? [] : [line.model(texts.join(""))];
      if (role !== "user") return [line.system(texts.join(""))];
      return parts.map((part: Json) => {
        const [, mediaType = "", data = ""] = /^data:([^;]+);base64,(.*)$/.exec(String(part["image_url"])) ?? [];
        return part["type"] === "input_image" ? line.image(mediaType, data) : line.user(String(part["text"]));
      });
    }
  }
}
