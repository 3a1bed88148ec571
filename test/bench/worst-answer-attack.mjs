/**
 * A tenant whose upstreams mean harm: asks for every worst answer, in the upstream's own wire and in another, and tells
 * what became of it. It goes on when a line comes, so that what each did to the gateway can be read between them.
 * With an empty key it asks the upstream itself, through what only passes bytes. What follows the key are texts of the
 * names of those that it asks for.
 */
import { createInterface } from "node:readline";
import { isAsked, WORST_QUESTIONS } from "./worst-questions.mjs";

const [base = "", upstream = "", key = "", ...cases] = process.argv.slice(2);

const goOn = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

const said = { messages: [{ role: "user", content: "hi" }], max_tokens: 16_000 };

/** @typedef {{ path: (model: string, isStream: boolean) => string, body: object }} Client */
/** How a client asks in each wire. @type {Record<string, Client>} */
const CLIENTS = {
  "openai-chat": { path: () => "/v1/chat/completions", body: said },
  "openai-responses": { path: () => "/v1/responses", body: { input: "hi", store: false } },
  "openai-completions": { path: () => "/v1/completions", body: { prompt: "hi" } },
  "openai-embeddings": { path: () => "/v1/embeddings", body: { input: "hi" } },
  anthropic: { path: () => "/v1/messages", body: said },
  gemini: {
    path: (model, isStream) =>
      `/v1beta/models/${model}:${isStream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
    body: { contents: [{ role: "user", parts: [{ text: "hi" }] }] },
  },
};

for (const { name, model, answer, client, stream } of WORST_QUESTIONS) {
  if (!isAsked(name, cases)) continue;
  await fetch(`${upstream}/answer/${answer}`, { method: "HEAD" });
  const { path, body } = CLIENTS[client] ?? { path: () => "/", body: {} };
  const startMs = performance.now();
  const status = await ask(key === "" ? `/answer/${answer}` : path(model, stream), {
    ...(client === "gemini" ? {} : { model, stream }),
    ...body,
  });
  process.stdout.write(`${JSON.stringify({ name, status, ms: performance.now() - startMs })}\n`);
  await goOn.next();
}
process.exit();

/**
 * @param {string} path
 * @param {object} body
 */
async function ask(path, body) {
  try {
    const response = await fetch(base + path, {
      method: "POST",
      headers: {
        authorization: `Bearer ${key}`,
        "content-type": "application/json",
        "anthropic-version": "2023-06-01",
      },
      body: JSON.stringify(body),
    });
    for await (const _ of response.body ?? []);
    return response.status;
  } catch {
    return "cut";
  }
}
