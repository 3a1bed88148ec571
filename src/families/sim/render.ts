/** Writes the stand-in's answer as OpenAI's chat completions do: whole, or as the chunks of a stream. */
import { eventText } from "../../wire/events/writer.js";
import { SIM_MODELS } from "./models.js";
import type { Candidate, Reply, ToolCall } from "./reply.js";
import type { SimRefusal } from "./refusal.js";
import { SIM_MODEL, type SimBody } from "./request.js";

/** What every chunk of one answer shares. */
export interface Head {
  readonly id: string;
  readonly createdSeconds: number;
}

export function renderAnswer(body: SimBody, reply: Reply, head: Head): string {
  return JSON.stringify({
    ...shared(head, "chat.completion"),
    choices: reply.candidates.map((one, index) => ({
      index,
      message: {
        role: "assistant",
        content: one.calls.length > 0 ? null : one.text.join(""),
        refusal: null,
        ...(one.thinking.length > 0 ? { reasoning_content: one.thinking.join("") } : {}),
        ...(one.calls.length > 0 ? { tool_calls: one.calls.map(wholeCall) } : {}),
      },
      logprobs: body.logprobs ? logprobs(one.text, body) : null,
      finish_reason: one.finish,
    })),
    usage: usage(reply),
  });
}

/** The events of a stream, one for each token, made as they are taken. */
export function* renderStream(body: SimBody, reply: Reply, head: Head): Generator<string, void> {
  const includeUsage = body.stream_options?.include_usage === true;
  const event = (choices: readonly unknown[], told: unknown): string => {
    const usageMember = includeUsage ? { usage: told } : {};
    return eventText("", JSON.stringify({ ...shared(head, "chat.completion.chunk"), choices, ...usageMember }));
  };
  for (const [index, one] of reply.candidates.entries()) {
    for (const { delta, token } of deltas(one)) {
      const scored = body.logprobs && token !== undefined ? logprobs([token], body) : null;
      yield event([{ index, delta, logprobs: scored, finish_reason: null }], null);
    }
    yield event([{ index, delta: {}, logprobs: null, finish_reason: one.finish }], null);
  }
  if (includeUsage) yield event([], usage(reply));
  yield eventText("", "[DONE]");
}

export function renderRefusal(refusal: SimRefusal): string {
  const { message, param, code, status } = refusal;
  const type = status >= 500 ? "server_error" : "invalid_request_error";
  return JSON.stringify({ error: { message, type, param, code } });
}

export function renderModels(): string {
  return JSON.stringify({
    object: "list",
    data: SIM_MODELS.map(({ id }) => ({ id, object: "model", created: 0, owned_by: "tollgate" })),
  });
}

/** A delta, and the token of text that it carries, if any. */
interface Delta {
  readonly delta: object;
  readonly token: string | undefined;
}

function* deltas(one: Candidate): Generator<Delta, void> {
  const content = one.calls.length > 0 ? null : "";
  yield { delta: { role: "assistant", content, refusal: null }, token: undefined };
  for (const piece of one.thinking) yield { delta: { reasoning_content: piece }, token: undefined };
  for (const piece of one.text) yield { delta: { content: piece }, token: piece };
  for (const [index, call] of one.calls.entries()) {
    yield { delta: { tool_calls: [{ index, ...openCall(call) }] }, token: undefined };
    for (const piece of call.input) {
      const part = call.tool.kind === "custom" ? { custom: { input: piece } } : { function: { arguments: piece } };
      yield { delta: { tool_calls: [{ index, ...part }] }, token: undefined };
    }
  }
}

function openCall(call: ToolCall): object {
  return toolCall(call, "");
}

function wholeCall(call: ToolCall): object {
  return toolCall(call, call.input.join(""));
}

function toolCall({ id, tool }: ToolCall, input: string): object {
  return tool.kind === "custom"
    ? { id, type: "custom", custom: { name: tool.name, input } }
    : { id, type: "function", function: { name: tool.name, arguments: input } };
}

function shared(head: Head, object: string): object {
  return { id: head.id, object, created: head.createdSeconds, model: SIM_MODEL.id, system_fingerprint: "sim" };
}

function usage(reply: Reply): object {
  return {
    prompt_tokens: reply.promptTokens,
    completion_tokens: reply.outputTokens,
    total_tokens: reply.promptTokens + reply.outputTokens,
    prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: reply.thinkingTokens, audio_tokens: 0 },
  };
}

/** Made-up certainties, falling by rank, in the shape of real ones. */
function logprobs(text: readonly string[], body: SimBody): object {
  const content = text.map((token) => ({
    ...scored(token, 0),
    top_logprobs: Array.from({ length: body.top_logprobs ?? 0 }, (_, rank) =>
      scored(rank === 0 ? token : `${token}~${rank}`, rank),
    ),
  }));
  return { content, refusal: null };
}

function scored(token: string, rank: number): object {
  return { token, logprob: -0.125 * (rank + 1), bytes: [...Buffer.from(token)] };
}
