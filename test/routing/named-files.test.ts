/** Files that an upstream keeps are refused also where the text of instructions names them (decision 0412). */
import { describe, expect, test } from "vitest";
import { GatewayError } from "../../src/base/errors.js";
import { qwen } from "../../src/families/qwen.js";
import { groq } from "../../src/families/groq.js";
import { moonshot } from "../../src/families/moonshot.js";
import { openaiCompatible } from "../../src/families/openai-compatible.js";
import { leaving, read } from "./asked.js";

const ADDRESS = "fileid://file-fe-of-another-tenant";

/** What would leave for the family, or the refusal. */
function sent(wire: string, body: string, family = qwen): string {
  try {
    return leaving(read(wire, body), family, family).toString();
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return `${error.http} ${error.param}`;
  }
}

const system = (content: unknown, role = "system"): string =>
  JSON.stringify({
    model: "m",
    messages: [
      { role, content },
      { role: "user", content: "What does it say?" },
    ],
  });
const FIRST = "400 messages[0].content";

describe("an upstream that reads files in instructions", () => {
  test.each([
    ["alone", system(ADDRESS)],
    ["behind a comma", system(`fileid://,${ADDRESS}`)],
    ["among words", system(`Read ${ADDRESS} first.`)],
    ["in capitals", system(ADDRESS.toUpperCase())],
    [
      "in a part",
      system([
        { type: "text", text: "Be brief." },
        { type: "text", text: ADDRESS },
      ]),
    ],
    ["of a developer", system(ADDRESS, "developer")],
    ["of a role that nobody knows", system(ADDRESS, "System")],
    ["with its strokes escaped", system(ADDRESS).replaceAll("//", String.raw`\/\/`)],
    ["with a letter escaped", system(ADDRESS).replace("fileid", String.raw`f\u0069leid`)],
  ])("is named none by a client: %s", (_name, body) => {
    expect(sent("openai-chat", body)).toBe(FIRST);
    expect(sent("openai-chat", body, openaiCompatible)).toBe(FIRST);
    expect(sent("openai-chat", body, groq)).not.toMatch(/^400/);
  });

  test.each([
    ["anthropic", { model: "m", max_tokens: 5, system: ADDRESS, messages: [{ role: "user", content: "Hi" }] }],
    ["openai-responses", { model: "m", instructions: ADDRESS, input: "Hi" }],
    [
      "gemini",
      { systemInstruction: { parts: [{ text: ADDRESS }] }, contents: [{ role: "user", parts: [{ text: "Hi" }] }] },
    ],
  ])("nor in the wire of '%s'", (wire, body) => {
    expect(sent(wire, JSON.stringify(body))).toBe(FIRST);
  });

  test("is told what others say of such addresses", () => {
    const messages = [
      { role: "system", content: "Explain what fileid means: é." },
      { role: "user", content: `What is ${ADDRESS}?` },
      { role: "assistant", content: `I see ${ADDRESS}.` },
      { role: "user", content: [{ type: "text", text: ADDRESS }] },
    ];
    expect(sent("openai-chat", JSON.stringify({ model: "m", messages }))).toContain(ADDRESS);
  });
});

describe("an upstream that reads files where an address stands", () => {
  const withPart = (part: unknown, role = "user"): string =>
    JSON.stringify({ model: "m", messages: [{ role, content: [{ type: "text", text: "See." }, part] }] });
  test.each([
    ["a picture's", withPart({ type: "image_url", image_url: { url: "ms://file-of-another" } })],
    ["a film's", withPart({ type: "video_url", video_url: { url: "MS://file-of-another" } })],
    ["a picture's, as one text", withPart({ type: "image_url", image_url: " ms://file-of-another" })],
    ["of a part that nobody knows", withPart({ type: "new", deep: [{ at: "ms://file-of-another" }] })],
    ["with a letter escaped", withPart({ type: "new", at: "ms://f" }).replace("ms:", String.raw`m\u0073:`)],
    ["in a system message", withPart({ type: "text", text: "As ms://file-of-another says." }, "system")],
  ])("is named none by a client: %s", (_name, body) => {
    for (const family of [moonshot, openaiCompatible]) expect(sent("openai-chat", body, family)).toBe(FIRST);
  });

  test("is told what others say of such addresses, and other addresses", () => {
    const text = "ms://file-of-another as a text, and \u003cb>";
    const parts = [
      { type: "text", text },
      { type: "image_url", image_url: { url: "https://example.com/forms://a" } },
    ];
    const messages = [
      { role: "system", content: "Find items://a and forms://b." },
      { role: "user", content: parts },
    ];
    const tools = [{ type: "function", function: { name: "f", parameters: { const: "ms://a" } } }];
    const body = JSON.stringify({ model: "m", messages, tools, metadata: { at: "ms://a" } });
    expect(sent("openai-chat", body, openaiCompatible)).toContain("ms://file-of-another");
  });
});
