/** Events without anything in them, which some servers send between others, are nothing on any wire. */
import { expect, test } from "vitest";
import { wire as anthropic } from "../../src/wire/anthropic/index.js";
import { wire as gemini } from "../../src/wire/gemini/index.js";
import { wire as chat } from "../../src/wire/openai-chat/index.js";
import { wire as completions } from "../../src/wire/openai-completions/index.js";
import { wire as responses } from "../../src/wire/openai-responses/index.js";
import { LEAST, read } from "../routing/asked.js";

const ANSWER = {
  id: "c",
  object: "chat.completion.chunk",
  created: 1,
  model: "m",
  choices: [{ index: 0, text: "Hi", delta: { role: "assistant", content: "Hi" }, finish_reason: "stop" }],
};
const GEMINI = {
  candidates: [{ index: 0, content: { role: "model", parts: [{ text: "Hi" }] }, finishReason: "STOP" }],
};
const EVENTS: Readonly<Record<string, object>> = {
  [chat.name]: ANSWER,
  [completions.name]: ANSWER,
  [gemini.name]: GEMINI,
  [anthropic.name]: { type: "ping" },
  [responses.name]: { type: "response.output_text.delta", delta: "Hi", sequence_number: 1 },
};

test.each(
  [chat, completions, responses, anthropic, gemini].flatMap((wire) =>
    ["source", "events", "fitted"].map((form) => ({ wire, form, name: wire.name })),
  ),
)("$name as $form", ({ wire, form, name }) => {
  const request = read(name, JSON.stringify({ ...LEAST[name], stream: true }));
  const said = `data: ${JSON.stringify(EVENTS[name])}\n\n`;
  const [plain, mixed] = [said, `data: null\n\n${said}data: null\n\ndata:  null \n\n`].map((text) => {
    const decoder = wire.decodeStream(request.facts, form as "source", request);
    const { error, source, events } = decoder.push(Buffer.from(text));
    return { error, source: source.toString(), events };
  });
  expect(plain?.error).toBeUndefined();
  expect(mixed).toEqual(plain);
});
