/** The least request of each wire that a client speaks, and an answer's finish. */
import { type Finish, UsageSource } from "../../src/api/index.js";
import { NO_USAGE } from "../../src/api/usage.js";
import { readers } from "../../src/reading/readers.js";
import type { SourceBody, WireRequest } from "../../src/wire/wire.js";

const BODIES: Readonly<Record<string, object>> = {
  "openai-chat": { model: "m", messages: [{ role: "user", content: "Hi" }] },
  "openai-responses": { model: "m", input: "Hi" },
  "openai-completions": { model: "m", prompt: "Hi" },
  "openai-embeddings": { model: "m", input: "Hi", encoding_format: "base64" },
  anthropic: { model: "m", max_tokens: 9, messages: [{ role: "user", content: "Hi" }] },
  gemini: { contents: [{ role: "user", parts: [{ text: "Hi" }] }] },
};

/** Those whose requests generate text. */
export const GENERATING_WIRES = Object.keys(BODIES).filter((wire) => wire !== "openai-embeddings");

export const CREATED = new Date(1_800_000_000_000);
export const FINISH: Finish = {
  usage: { ...NO_USAGE, inputTokens: 3n, outputTokens: 5n },
  usageSource: UsageSource.USAGE_SOURCE_REPORTED,
  costNanos: 7n,
};

/** True where clients speak the wire. */
export function isClientWire(wire: string): boolean {
  return Object.hasOwn(BODIES, wire);
}

export function sourceOf(wire: string): SourceBody {
  const body = Buffer.from(JSON.stringify(BODIES[wire]));
  return { wire, body, headers: { "x-tollgate-path-model": "m" } };
}

export function requestOf(source: SourceBody): WireRequest {
  const found = readers.get(source.wire);
  if (found === undefined) throw new Error(source.wire);
  return found.readRequest(source);
}
