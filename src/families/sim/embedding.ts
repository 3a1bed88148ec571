/** The stand-in's vectors: each token of a text adds a direction of its own, so texts that share words lie near. */
import { createHash } from "node:crypto";
import { z } from "zod";
import type { BuiltInModel } from "../family.js";
import { pieces } from "./pieces.js";
import { parseBody, SimRefusal } from "./refusal.js";

export const SIM_EMBEDDING_MODEL: BuiltInModel = {
  id: "sim-embed-1",
  contextTokens: 8_000,
  outputTokensMax: 0,
  kind: "embedding",
};

const DIMENSIONS = 64;
const DIMENSIONS_MAX = 1_024;
const INPUTS_MAX = 2_048;

type Input = string | readonly (string | number | readonly number[])[];

const bodySchema = z.looseObject({
  model: z.string(),
  // Read as a whole: a schema of the items makes an error of each one that is none, for each way to read them.
  input: z.custom<Input>(isInput, `must be a text, tokens, or 1 to ${INPUTS_MAX} of either`),
  encoding_format: z.enum(["float", "base64"]).nullish(),
  dimensions: z.number().int().min(1).max(DIMENSIONS_MAX).nullish(),
});

/** Answers a request for vectors. Throws a SimRefusal that names what is wrong. */
export function answerEmbedding(bytes: Buffer | undefined): string {
  const body = parseBody(bytes, bodySchema, SIM_EMBEDDING_MODEL.id);
  const inputs = inputsOf(body.input);
  const longest = Math.max(...inputs.map((input) => input.length));
  if (longest > SIM_EMBEDDING_MODEL.contextTokens) {
    const message = `Its maximum context length is ${SIM_EMBEDDING_MODEL.contextTokens} tokens, not ${longest}.`;
    throw new SimRefusal(400, message, "input", "context_length_exceeded");
  }
  const data = inputs.map((input, index) => {
    const vector = vectorOf(input, body.dimensions ?? DIMENSIONS);
    const embedding = body.encoding_format === "base64" ? Buffer.from(vector.buffer).toString("base64") : [...vector];
    return { object: "embedding", index, embedding };
  });
  const count = inputs.reduce((sum, input) => sum + input.length, 0);
  const usage = { prompt_tokens: count, total_tokens: count };
  return JSON.stringify({ object: "list", data, model: SIM_EMBEDDING_MODEL.id, usage });
}

function isInput(input: unknown): input is Input {
  if (typeof input === "string" || isTokens(input)) return true;
  if (!Array.isArray(input) || input.length === 0 || input.length > INPUTS_MAX) return false;
  return input.every((one) => typeof one === "string") || input.every(isTokens);
}

function isTokens(input: unknown): input is readonly number[] {
  return Array.isArray(input) && input.length > 0 && input.every((one) => Number.isSafeInteger(one) && one >= 0);
}

/** Each input in tokens. */
function inputsOf(input: Input): readonly (readonly string[])[] {
  if (typeof input === "string") return [pieces(input)];
  const [first] = input;
  if (typeof first === "number") return [input.map(String)];
  return input.map((one) => {
    if (typeof one === "string") return pieces(one);
    return Array.isArray(one) ? one.map(String) : [String(one)];
  });
}

/** A vector of length one. */
function vectorOf(input: readonly string[], dimensions: number): Float32Array {
  const sum = new Float32Array(dimensions);
  for (const token of input.length === 0 ? [""] : input) {
    const bytes = createHash("shake256", { outputLength: dimensions }).update(token.trim().toLowerCase()).digest();
    for (const [place, byte] of bytes.entries()) sum[place] = (sum[place] ?? 0) + byte - 127.5;
  }
  const length = Math.hypot(...sum);
  return sum.map((value) => value / length);
}
