/** Mistral's chat completions as the strict upstream speaks them: what it thinks and says is a list of pieces. */
import { createHash } from "node:crypto";
import { mistralProblem } from "../../support/mistral-rules.js";
import { openAiProblem } from "../../support/openai-rules.js";
import type { Reply } from "../scenario.js";
import { FINISH, head, readRequest } from "./openai-chat.js";
import { type Answering, fragments, type Json, SECRET, type Speaker } from "./scripted-upstream.js";

/** Members that OpenAI does not know. */
const OWN: ReadonlySet<string> = new Set(["random_seed", "prompt_mode", "safe_prompt", "guardrails", "metadata"]);

export const mistralSpeaker: Speaker = {
  isProven: ({ headers }) => headers["authorization"] === `Bearer ${SECRET}`,
  problem: ({ body }) => {
    const others = Object.fromEntries(Object.entries(body).filter(([key]) => !OWN.has(key)));
    return mistralProblem(body) ?? openAiProblem(others, { isOpenAi: false, needsThinking: "" });
  },
  refusal: (_status, message) => ({
    object: "error",
    message,
    type: "invalid_request_error",
    param: null,
    code: "3051",
  }),
  model: ({ body }) => String(body["model"]),
  isStream: ({ body }) => body["stream"] === true,
  read: (body) => {
    const seen = readRequest(body);
    // These models think unasked.
    return { ...seen, thinks: seen.thinks || String(body["model"]).startsWith("magistral") };
  },
  whole: (answering) => {
    const { reply } = answering;
    const calls = callsOf(answering);
    const message = {
      role: "assistant",
      ...(said(reply) === "" && reply.thinking === undefined ? {} : { content: contentOf(reply) }),
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
    };
    const choices = [{ index: 0, finish_reason: FINISH[reply.end], message }];
    return { ...head(answering, "chat.completion"), usage: usageOf(reply), choices };
  },
  stream: (answering) => {
    const { reply } = answering;
    const top = head(answering, "chat.completion.chunk");
    const chunk = (delta: object, finish: string | null = null): Json => ({
      ...top,
      choices: [{ index: 0, delta, finish_reason: finish, logprobs: null }],
    });
    const calls = callsOf(answering);
    const last = calls.length === 0 ? { content: "" } : { content: null, tool_calls: calls };
    const chunks = [
      chunk({ role: "assistant", content: "" }),
      ...fragments(reply.thinking ?? "").map((text) => chunk({ content: [thought(text)] })),
      ...fragments(said(reply)).map((text) =>
        chunk({ content: reply.thinking === undefined ? text : [{ type: "text", text }] }),
      ),
      // All calls come at once, with the end and the usage.
      Object.assign(chunk(last, FINISH[reply.end]), { usage: usageOf(reply) }),
    ];
    return `${chunks.map((told) => `data: ${JSON.stringify(told)}\n\n`).join("")}data: [DONE]\n\n`;
  },
};

/** It has no place for a refusal: the model says it. */
function said({ text = "", refusal = "" }: Reply): string {
  return text + refusal;
}

/** A text, or a list of pieces where it thought. */
function contentOf(reply: Reply): unknown {
  const text = said(reply);
  if (reply.thinking === undefined) return text;
  return [thought(reply.thinking), ...(text === "" ? [] : [{ type: "text", text }])];
}

function thought(text: string): object {
  return { type: "thinking", thinking: [{ type: "text", text }] };
}

/** Calls without a number and without a type; ids are nine letters and digits. */
function callsOf({ reply, id }: Answering): Json[] {
  return (reply.calls ?? []).map(({ name, arguments: told }, place) => ({
    id: createHash("sha256").update(`${id} ${place}`).digest("hex").slice(0, 9),
    function: { name, arguments: JSON.stringify(told) },
  }));
}

function usageOf({ tokens }: Reply): Json {
  const { input, cacheRead, output, reasoning } = tokens;
  return {
    prompt_tokens: input + cacheRead,
    total_tokens: input + cacheRead + output + reasoning,
    completion_tokens: output + reasoning,
    prompt_tokens_details: { cached_tokens: cacheRead },
  };
}
