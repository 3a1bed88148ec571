/** How each client format tells an error: its address, its envelope, and what its official client throws. */
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import OpenAI from "openai";
import { expect } from "vitest";
import type { Meaning, UpstreamError } from "./upstream-errors.js";

/** What the format says of a meaning. */
export interface Envelope {
  readonly status: number;
  /** What the body must hold. */
  readonly envelope: object;
}

export interface ErrorFormat {
  readonly name: string;
  ask(
    model: string,
    isStream: boolean,
    /** For the formats that must name it. */
    outputTokensMax?: number,
  ): {
    readonly path: string;
    readonly body: object;
    headers(secret: string): Readonly<Record<string, string>>;
  };
  envelope(means: Meaning, row: Pick<UpstreamError, "code" | "param">): Envelope;
  /** The keys of the envelope, which are always the same. */
  keys(told: object): readonly string[];
  /** The same call by the official client, which throws. */
  call(url: string, secret: string, model: string, isStream: boolean): Promise<unknown>;
  /** What of the thrown error says which it is. */
  thrown(means: Meaning): object;
}

/** As long as any request that was recorded: an answer may tell no more input than its request can have been. */
const HI = "Hi ".repeat(20_000);

/** Status, `type` and `code` of OpenAI's envelope. */
const OPENAI: Readonly<Record<Meaning, readonly [number, string, string]>> = {
  rejected: [400, "invalid_request_error", "invalid_value"],
  context: [400, "invalid_request_error", "context_length_exceeded"],
  "too large": [413, "invalid_request_error", "request_too_large"],
  credential: [502, "server_error", "upstream_credential"],
  "rate limit": [429, "requests", "rate_limit_exceeded"],
  unavailable: [503, "server_error", "upstream_unavailable"],
  timeout: [504, "server_error", "upstream_timeout"],
  failed: [502, "server_error", "upstream_error"],
};

const ANTHROPIC: Readonly<Record<Meaning, readonly [number, string]>> = {
  rejected: [400, "invalid_request_error"],
  context: [400, "invalid_request_error"],
  "too large": [413, "request_too_large"],
  credential: [502, "api_error"],
  "rate limit": [429, "rate_limit_error"],
  unavailable: [529, "overloaded_error"],
  timeout: [504, "timeout_error"],
  failed: [502, "api_error"],
};

const GOOGLE: Readonly<Record<Meaning, readonly [number, string]>> = {
  rejected: [400, "INVALID_ARGUMENT"],
  context: [400, "INVALID_ARGUMENT"],
  "too large": [413, "INVALID_ARGUMENT"],
  credential: [502, "UNAVAILABLE"],
  "rate limit": [429, "RESOURCE_EXHAUSTED"],
  unavailable: [503, "UNAVAILABLE"],
  timeout: [504, "DEADLINE_EXCEEDED"],
  failed: [502, "UNAVAILABLE"],
};

const errorKeys = (told: object): string[] => Object.keys(Object(Reflect.get(told, "error"))).sort();

function openAiEnvelope(
  means: Meaning,
  { code: own, param = null }: { readonly code?: string; readonly param?: string | null },
): Envelope {
  const [status, type, code] = OPENAI[means];
  const message = expect.any(String) as unknown;
  return { status, envelope: { error: { message, type, code: own ?? code, param } } };
}

const chat: ErrorFormat = {
  name: "chat",
  ask: (model, isStream) => ({
    path: "/v1/chat/completions",
    body: { model, messages: [{ role: "user", content: HI }], stream: isStream },
    headers: (secret) => ({ authorization: `Bearer ${secret}` }),
  }),
  envelope: openAiEnvelope,
  keys: errorKeys,
  call: (url, secret, model, isStream) =>
    new OpenAI({ baseURL: `${url}/v1`, apiKey: secret, maxRetries: 0 }).chat.completions.create({
      model,
      messages: [{ role: "user", content: HI }],
      stream: isStream,
    }),
  thrown: (means) => ({ status: OPENAI[means][0], type: OPENAI[means][1] }),
};

const responses: ErrorFormat = {
  ...chat,
  name: "responses",
  ask: (model, isStream) => ({
    path: "/v1/responses",
    body: { model, input: HI, stream: isStream },
    headers: (secret) => ({ authorization: `Bearer ${secret}` }),
  }),
  call: (url, secret, model, isStream) =>
    new OpenAI({ baseURL: `${url}/v1`, apiKey: secret, maxRetries: 0 }).responses.create({
      model,
      input: HI,
      stream: isStream,
    }),
};

const messages: ErrorFormat = {
  name: "messages",
  ask: (model, isStream, outputTokensMax = 100) => ({
    path: "/v1/messages",
    body: { model, max_tokens: outputTokensMax, messages: [{ role: "user", content: HI }], stream: isStream },
    headers: (secret) => ({ authorization: `Bearer ${secret}`, "anthropic-version": "2026-10-21" }),
  }),
  envelope: (means) => {
    const [status, type] = ANTHROPIC[means];
    const message = means === "context" ? expect.stringContaining("prompt is too long") : expect.any(String);
    const error = { type, message: message as unknown, details: { error_code: expect.any(String) as unknown } };
    return { status, envelope: { type: "error", error, request_id: expect.stringMatching(/^req_/) as unknown } };
  },
  keys: (told) => [...Object.keys(told).sort(), ...errorKeys(told)],
  call: (url, secret, model, isStream) =>
    new Anthropic({ baseURL: url, apiKey: secret, maxRetries: 0 }).messages.create({
      model,
      max_tokens: 100,
      messages: [{ role: "user", content: HI }],
      stream: isStream,
    }),
  thrown: (means) => ({ status: ANTHROPIC[means][0], type: ANTHROPIC[means][1] }),
};

const gemini: ErrorFormat = {
  name: "gemini",
  ask: (model, isStream) => ({
    path: `/v1beta/models/${model}:${isStream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
    body: { contents: [{ role: "user", parts: [{ text: HI }] }] },
    headers: (secret) => ({ "x-goog-api-key": secret }),
  }),
  envelope: (means, { param }) => {
    const [status, name] = GOOGLE[means];
    const violations = [{ field: param, description: expect.any(String) as unknown }];
    const wanted = param === undefined ? [] : [expect.objectContaining({ fieldViolations: violations }) as unknown];
    const details = expect.arrayContaining([expect.objectContaining({ domain: "tollgate" }), ...wanted]) as unknown;
    return {
      status,
      envelope: { error: { code: status, status: name, message: expect.any(String) as unknown, details } },
    };
  },
  keys: errorKeys,
  call: async (url, secret, model, isStream) => {
    const { models } = new GoogleGenAI({ apiKey: secret, httpOptions: { baseUrl: url } });
    return isStream
      ? models.generateContentStream({ model, contents: HI })
      : models.generateContent({ model, contents: HI });
  },
  thrown: (means) => ({ status: GOOGLE[means][0], message: expect.stringContaining(GOOGLE[means][1]) as unknown }),
};

export const errorFormats: readonly ErrorFormat[] = [chat, responses, messages, gemini];
