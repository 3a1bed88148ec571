/** OpenAI's chat completions as a strict upstream speaks them, and as the families do that follow it. */
import { openAiProblem } from "../../support/openai-rules.js";
import { type Call, type End, line, type Reply, type Seen } from "../scenario.js";
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

export interface OpenAiSpeaking {
  /** True for OpenAI itself, which knows what others do not. */
  readonly isOpenAi: boolean;
  /** The member that tells what the model thinks; empty where it keeps that to itself. */
  readonly thinkingField: string;
  /** The member that every message of the assistant's must bring; none where undefined or empty. */
  readonly needsThinking?: string;
  /** Members that it knows and OpenAI does not. */
  readonly ownMembers?: readonly string[];
}

export const FINISH: Readonly<Record<End, string>> = {
  end: "stop",
  stop: "stop",
  length: "length",
  calls: "tool_calls",
  blocked: "stop",
};

export function openAiSpeaker(speaking: OpenAiSpeaking): Speaker {
  const { isOpenAi, thinkingField, needsThinking = "", ownMembers = [] } = speaking;
  const thought = (thinking: string | undefined): Json =>
    thinking === undefined || thinkingField === "" ? {} : { [thinkingField]: thinking };
  return {
    isProven: ({ headers }) => headers["authorization"] === `Bearer ${SECRET}` || headers["api-key"] === SECRET,
    problem: ({ body }) => openAiProblem(body, { isOpenAi, needsThinking, ownMembers }),
    refusal: (_status, message) => ({ error: { message, type: "invalid_request_error", param: null, code: null } }),
    model: ({ body }) => String(body["model"]),
    isStream: ({ body }) => body["stream"] === true,
    read: readRequest,
    whole: (answering) => {
      const { reply } = answering;
      const calls = callsOf(answering);
      const message = {
        role: "assistant",
        content: reply.text ?? null,
        refusal: reply.refusal ?? null,
        ...thought(reply.thinking),
        ...(calls.length === 0 ? {} : { tool_calls: calls }),
      };
      const choices = [{ index: 0, message, logprobs: null, finish_reason: FINISH[reply.end] }];
      return { ...head(answering, "chat.completion"), choices, usage: usageOf(reply) };
    },
    stream: (answering, { body }) => {
      const asked = object(body["stream_options"])["include_usage"] === true;
      const top = head(answering, "chat.completion.chunk");
      const chunk = (delta: object, finish: string | null = null): object => ({
        ...top,
        choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
        ...(asked ? { usage: null } : {}),
      });
      const chunks = [
        ...deltasOf(answering, thought).map((delta) => chunk(delta)),
        chunk({}, FINISH[answering.reply.end]),
        ...(asked ? [{ ...top, choices: [], usage: usageOf(answering.reply) }] : []),
      ];
      return `${chunks.map((told) => `data: ${JSON.stringify(told)}\n\n`).join("")}data: [DONE]\n\n`;
    },
  };
}

export function head({ id, model }: Answering, kind: string): object {
  return { id: `chatcmpl-${id}`, object: kind, created: 1_790_000_000, model };
}

function callsOf({
  reply,
  id,
}: Answering): { id: string; type: string; function: { name: string; arguments: string } }[] {
  return (reply.calls ?? []).map((call, place) => ({
    id: `call_${id}_${place}`,
    type: "function",
    function: { name: call.name, arguments: JSON.stringify(call.arguments) },
  }));
}

function deltasOf(answering: Answering, thought: (thinking: string) => Json): object[] {
  const { reply } = answering;
  const { thinking = "", text, refusal } = reply;
  return [
    { role: "assistant", content: text === undefined ? null : "", refusal: null },
    ...fragments(thinking)
      .map((piece) => thought(piece))
      .filter((delta) => Object.keys(delta).length > 0),
    ...fragments(text ?? "").map((content) => ({ content })),
    ...fragments(refusal ?? "").map((piece) => ({ refusal: piece })),
    ...callsOf(answering).flatMap(callDeltas),
  ];
}

/** A call opens with its name, and brings its arguments after it. */
function callDeltas({ id, type, function: called }: ReturnType<typeof callsOf>[number], index: number): object[] {
  const opening = { index, id, type, function: { name: called.name, arguments: "" } };
  const more = fragments(called.arguments).map((piece) => ({ index, function: { arguments: piece } }));
  return [opening, ...more].map((call) => ({ tool_calls: [call] }));
}

function usageOf({ tokens }: Reply): object {
  const { input, cacheRead, output, reasoning } = tokens;
  return {
    prompt_tokens: input + cacheRead,
    completion_tokens: output + reasoning,
    total_tokens: input + cacheRead + output + reasoning,
    prompt_tokens_details: { cached_tokens: cacheRead },
    completion_tokens_details: { reasoning_tokens: reasoning },
  };
}

export function readRequest(body: Json): Seen {
  const calls = new Map<string, Call>();
  const format = object(body["response_format"]);
  const stop = body["stop"] ?? [];
  return {
    said: objects(body["messages"]).flatMap((message) => readMessage(message, calls)),
    tools: objects(body["tools"]).map(({ function: tool }) => {
      const { name, description, parameters } = object(tool);
      return { name: String(name), description: String(description), parameters: object(parameters) };
    }),
    schema: format["type"] === "json_schema" ? object(format["json_schema"])["schema"] : undefined,
    stop: typeof stop === "string" ? [stop] : (stop as string[]),
    outputTokensMax: (body["max_completion_tokens"] ?? body["max_tokens"]) as number | undefined,
    thinks: body["reasoning_effort"] !== undefined && body["reasoning_effort"] !== "none",
  };
}

function readMessage(message: Json, calls: Map<string, Call>): string[] {
  const parts =
    typeof message["content"] === "string" ? [{ type: "text", text: message["content"] }] : message["content"];
  const texts = objects(parts).map((part) => String(part["text"] ?? ""));
  switch (message["role"]) {
    case "system":
    case "developer":
      return [line.system(texts.join(""))];
    case "tool":
      return [line.result(calls.get(String(message["tool_call_id"])), texts.join(""))];
    case "assistant": {
      const thoughts = ["reasoning_content", "reasoning"].flatMap((key) =>
        message[key] ? [String(message[key])] : [],
      );
      const called = objects(message["tool_calls"]).map(({ id, function: told }) => {
        const call = { name: String(object(told)["name"]), arguments: argumentsIn(object(told)["arguments"]) };
        calls.set(String(id), call);
        return line.call(call);
      });
      const said = texts.join("") === "" ? [] : [line.model(texts.join(""))];
      return [...thoughts.map((text) => line.thought(text)), ...said, ...called];
    }
    default:
      return objects(parts).map((part) => {
        if (part["type"] !== "image_url") return line.user(String(part["text"]));
        const [, mediaType = "", data = ""] =
          /^data:([^;]+);base64,(.*)$/.exec(String(object(part["image_url"])["url"])) ?? [];
        return line.image(mediaType, data);
      });
  }
}
