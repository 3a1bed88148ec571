/**
 * The upstreams whose answers are the worst, and a model of each for the tenant that asks for them, as settings. Each
 * question has an upstream of its own: one that gives bad answers is ejected, and would answer no other question.
 */
import { WORST_QUESTIONS } from "./worst-questions.mjs";

/** @type {Readonly<Record<string, readonly [family: string, path: string]>>} */
const FAMILIES = {
  "openai-chat": ["openai-compatible", "/v1"],
  "openai-responses": ["openai-responses", "/v1"],
  "openai-completions": ["openai-compatible", "/v1"],
  "openai-embeddings": ["openai-compatible", "/v1"],
  anthropic: ["anthropic", ""],
  gemini: ["gemini", ""],
  "bedrock-converse": ["bedrock", ""],
};

/** @param {number} port */
export function worstUpstreams(port) {
  return WORST_QUESTIONS.map(({ model, answer, wire }) => {
    const [family = "", path = ""] = FAMILIES[wire] ?? [];
    const url = `http://127.0.0.1:${port}/answer/${answer}${path}`;
    return `  ${model}: { family: ${family}, base_url: "${url}", api_key: "ABSKbench" }\n`;
  }).join("");
}

/** @param {string} served What is said of every model. */
export function worstModels(served) {
  return WORST_QUESTIONS.map(({ model, kind, facts }) => {
    const ofKind = kind === undefined ? "" : `\n    kind: ${kind}`;
    const more = facts === undefined ? ofKind : `${ofKind}\n    facts: ${facts}`;
    return `  ${model}:\n    targets: [{ upstream: ${model}, model: "us.m-v1:0" }]\n    ${served}${more}\n`;
  }).join("");
}
