/** The upstreams whose answers are the worst, and a model of each for the tenant that asks for them, as settings. */

/** @type {readonly [wire: string, family: string, path: string][]} */
const FAMILIES = [
  ["openai-chat", "openai-compatible", "/v1"],
  ["openai-responses", "openai-responses", "/v1"],
  ["openai-completions", "openai-compatible", "/v1"],
  ["openai-embeddings", "openai-compatible", "/v1"],
  ["anthropic", "anthropic", ""],
  ["gemini", "gemini", ""],
  ["bedrock-converse", "bedrock", ""],
];

/** @param {number} port */
export function worstUpstreams(port) {
  return FAMILIES.map(([wire, family, path]) => {
    const url = `http://127.0.0.1:${port}${path}`;
    return `  worst-${wire}: { family: ${family}, base_url: "${url}", api_key: "ABSKbench" }\n`;
  }).join("");
}

/** @param {string} served What is said of every model. */
export function worstModels(served) {
  return FAMILIES.map(
    ([wire]) => `  worst-${wire}:\n    targets: [{ upstream: worst-${wire}, model: "us.m-v1:0" }]\n    ${served}\n`,
  ).join("");
}
