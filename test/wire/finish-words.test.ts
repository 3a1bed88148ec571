/**
 * The words by which upstreams end an answer, on every wire and for every client: none that means cut, withheld or
 * failed looks finished, whole or streamed, with a call or without.
 */
import { describe, expect, test } from "vitest";
import type { Answer, Event } from "../../src/api/index.js";
import { AnswerFold } from "../../src/api/answer-fold.js";
import { GatewayError } from "../../src/base/errors.js";
import { wire as openAiChat } from "../../src/wire/openai-chat/index.js";
import type { ClientWire } from "../../src/wire/wire.js";
import { frameOf } from "../support/fake-bedrock.js";
import { CLIENT_WIRES, WIRES } from "../gateway/wires.js";

type Means = "end" | "length" | "context" | "blocked" | "failed";
type Name = keyof typeof WIRES;

/** What each client sees of an end. `failed` is an error on every wire but those that have a word for it. */
const TOLD: Readonly<Record<keyof typeof CLIENT_WIRES, Readonly<Record<Exclude<Means, "failed">, string>>>> = {
  "openai-chat": { end: "stop", length: "length", context: "length", blocked: "content_filter" },
  "openai-completions": { end: "stop", length: "length", context: "length", blocked: "content_filter" },
  "openai-responses": {
    end: "completed",
    length: "incomplete max_output_tokens",
    context: "incomplete max_output_tokens",
    blocked: "incomplete content_filter",
  },
  anthropic: {
    end: "end_turn",
    length: "max_tokens",
    context: "model_context_window_exceeded",
    blocked: "refusal",
  },
  gemini: { end: "STOP", length: "MAX_TOKENS", context: "MAX_TOKENS", blocked: "SAFETY" },
};

/** Words of vendors, and made-up ones that only the rule can read. */
const WORDS: Readonly<Record<Name, Readonly<Record<Means, readonly string[]>>>> = {
  "openai-chat": {
    end: ["stop", "eos", "eos_token", "end_turn", "COMPLETE", "normal", "xyzzy"],
    length: ["length", "max_tokens", "MAX_TOKENS", "model_length", "max_output", "token_limit_reached"],
    context: ["model_context_window_exceeded", "context_overflow"],
    blocked: ["content_filter", "sensitive", "safety", "SAFETY", "content_filter: RECITATION", "policy_violation"],
    failed: [
      "error",
      "abort",
      "insufficient_system_resource",
      "network_error",
      "ERROR",
      "cancelled",
      "server_error",
      "malformed_function_call",
      "function_call_filter: MALFORMED_FUNCTION_CALL",
    ],
  },
  "openai-completions": {
    end: ["stop", "eos_token", "xyzzy"],
    length: ["length", "max_tokens"],
    context: ["model_context_window_exceeded"],
    blocked: ["content_filter", "sensitive"],
    failed: ["error", "abort", "network_error"],
  },
  "openai-responses": {
    end: [""],
    length: ["max_output_tokens", "max_tool_calls", "xyzzy"],
    context: ["context_window_exceeded"],
    blocked: ["content_filter", "safety"],
    failed: ["server_error"],
  },
  anthropic: {
    end: ["end_turn", "xyzzy"],
    length: ["max_tokens"],
    context: ["model_context_window_exceeded"],
    blocked: ["refusal", "sensitive"],
    failed: ["error", "network_error"],
  },
  gemini: {
    end: ["STOP"],
    length: ["MAX_TOKENS", "TOKEN_LIMIT"],
    context: ["CONTEXT_WINDOW_EXCEEDED"],
    blocked: [
      "SAFETY",
      "RECITATION",
      "BLOCKLIST",
      "PROHIBITED_CONTENT",
      "SPII",
      "LANGUAGE",
      "IMAGE_SAFETY",
      "MODERATED",
    ],
    failed: [
      "MALFORMED_FUNCTION_CALL",
      "UNEXPECTED_TOOL_CALL",
      "TOO_MANY_TOOL_CALLS",
      "MALFORMED_RESPONSE",
      "NO_IMAGE",
      "MISSING_THOUGHT_SIGNATURE",
      "INTERNAL_ERROR",
    ],
  },
  "bedrock-converse": {
    end: ["end_turn", "xyzzy"],
    length: ["max_tokens"],
    context: ["model_context_window_exceeded"],
    blocked: ["content_filtered", "guardrail_intervened", "refusal"],
    failed: ["malformed_model_output", "malformed_tool_use", "internal_failure"],
  },
};

/** A whole answer that says `hi`, may call a tool, and ends with a word. */
function bodyOf(name: Name, word: string, hasCall: boolean): object {
  const call = { id: "c1", type: "function", function: { name: "get", arguments: "{}" } };
  switch (name) {
    case "openai-chat": {
      const message = { role: "assistant", content: "hi", ...(hasCall ? { tool_calls: [call] } : {}) };
      return { id: "a", created: 1, model: "m", choices: [{ index: 0, message, finish_reason: word }] };
    }
    case "openai-completions":
      return { id: "a", created: 1, model: "m", choices: [{ index: 0, text: "hi", finish_reason: word }] };
    case "openai-responses": {
      const item = { id: "m", type: "message", role: "assistant", content: [{ type: "output_text", text: "hi" }] };
      const called = { id: "f", type: "function_call", call_id: "c1", name: "get", arguments: "{}" };
      const incomplete_details = word === "" ? null : { reason: word };
      const status = word === "" ? "completed" : "incomplete";
      return {
        id: "a",
        created_at: 1,
        model: "m",
        status,
        output: hasCall ? [item, called] : [item],
        incomplete_details,
      };
    }
    case "anthropic": {
      const use = { type: "tool_use", id: "c1", name: "get", input: {} };
      const content = [{ type: "text", text: "hi" }, ...(hasCall ? [use] : [])];
      const usage = { input_tokens: 1, output_tokens: 1 };
      return { id: "a", type: "message", role: "assistant", model: "m", content, stop_reason: word, usage };
    }
    case "gemini": {
      const parts = [{ text: "hi" }, ...(hasCall ? [{ functionCall: { id: "c1", name: "get", args: {} } }] : [])];
      return { candidates: [{ index: 0, content: { role: "model", parts }, finishReason: word }] };
    }
    case "bedrock-converse": {
      const use = { toolUse: { toolUseId: "c1", name: "get", input: {} } };
      const content = [{ text: "hi" }, ...(hasCall ? [use] : [])];
      return { output: { message: { role: "assistant", content } }, stopReason: word };
    }
  }
}

const request = openAiChat.readRequest({
  wire: "openai-chat",
  body: Buffer.from('{"model":"m","stream":true,"messages":[{"role":"user","content":"q"}]}'),
  headers: {},
});
const FINISH: Event = {
  kind: { $case: "finish", value: { usage: undefined, usageSource: 1, costNanos: 0n } },
};

/** The steps of the answer; the error that it ended with instead. */
function stepsOf(name: Name, word: string, hasCall: boolean): readonly Event[] | GatewayError {
  const body = Buffer.from(JSON.stringify(bodyOf(name, word, hasCall)));
  try {
    return [...WIRES[name].decodeAnswer(body).events(), FINISH];
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
}

/** How a client sees the end: its word, or `error`. */
function wholeEnd(client: ClientWire, steps: readonly Event[]): string {
  const fold = new AnswerFold();
  fold.push(steps);
  const answer: Answer = fold.answer();
  try {
    return endIn(JSON.parse(client.encodeAnswer(answer, () => request).toString()) as Json);
  } catch (error) {
    if (error instanceof GatewayError) return "error";
    throw error;
  }
}

function streamedEnd(client: ClientWire, steps: readonly Event[]): string {
  const encoder = client.encodeStream(request.facts, request);
  const events = encoder
    .push(steps)
    .toString()
    .split("\n")
    .flatMap((line) => (line.startsWith("data: {") ? [JSON.parse(line.slice(6)) as Json] : []));
  if (events.some((event) => event["type"] === "error" || event["error"] !== undefined)) return "error";
  const ends = events.map((event) => endIn((event["response"] ?? event) as Json)).filter((end) => end !== "");
  return ends.at(-1) ?? "";
}

type Json = Readonly<Record<string, unknown>>;

/** The word that an event, or a whole answer, ends with; empty where it has none. */
function endIn(told: Json): string {
  const choice = first(told["choices"]) ?? first(told["candidates"]) ?? (told["delta"] as Json | undefined) ?? told;
  const word = choice["finish_reason"] ?? choice["finishReason"] ?? choice["stop_reason"];
  if (typeof word === "string") return word;
  const { reason } = (told["incomplete_details"] ?? {}) as Json;
  return [told["status"], reason].filter((part) => typeof part === "string").join(" ");
}

function first(list: unknown): Json | undefined {
  return Array.isArray(list) ? (list[0] as Json | undefined) : undefined;
}

/** What tells a failure: an error, but where the wire has a word. */
const FAILED: Readonly<Record<string, string>> = { "openai-responses": "failed", gemini: "MALFORMED_RESPONSE" };
const CALLED: Readonly<Record<string, string>> = { "openai-chat": "tool_calls", anthropic: "tool_use" };

const cases = (Object.keys(WORDS) as Name[]).flatMap((name) =>
  (Object.keys(WORDS[name]) as Means[]).flatMap((means) =>
    WORDS[name][means].flatMap((word) =>
      (name === "openai-completions" ? [false] : [false, true]).map((hasCall) => ({ name, means, word, hasCall })),
    ),
  ),
);

describe.each(Object.entries(CLIENT_WIRES))("a client of %s", (clientName, client) => {
  test.each(cases)("sees of $name '$word' that it means $means (call: $hasCall)", ({ name, means, word, hasCall }) => {
    const steps = stepsOf(name, word, hasCall);
    if (steps instanceof GatewayError) {
      expect({ means, reason: steps.reason }).toEqual({ means: "failed", reason: "ERROR_REASON_UPSTREAM_FAILED" });
      return;
    }
    const told = TOLD[clientName as keyof typeof TOLD];
    const isCall = means === "end" && hasCall;
    const want = means === "failed" ? (FAILED[clientName] ?? "error") : (isCall && CALLED[clientName]) || told[means];
    expect([wholeEnd(client, steps), streamedEnd(client, steps)]).toEqual([want, want]);
  });
});

test("a word of Converse's streams means what it means whole", () => {
  for (const [means, words] of Object.entries(WORDS["bedrock-converse"]))
    for (const word of words) {
      const decoder = WIRES["bedrock-converse"].decodeStream(request.facts, "events");
      const frames = [
        frameOf("messageStart", { role: "assistant" }),
        frameOf("contentBlockDelta", { contentBlockIndex: 0, delta: { text: "hi" } }),
        frameOf("messageStop", { stopReason: word }),
      ];
      const steps = [...decoder.push(Buffer.concat(frames)).events, ...decoder.end().events, FINISH];
      const want = means === "failed" ? "error" : TOLD.anthropic[means as Exclude<Means, "failed">];
      expect({ word, end: streamedEnd(CLIENT_WIRES.anthropic, steps) }).toEqual({ word, end: want });
    }
});
