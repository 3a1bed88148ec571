/** Google's own counting, as the family asks for it. */
import { describe, expect, test } from "vitest";
import { gemini } from "../../src/families/gemini.js";
import { wire as chat } from "../../src/wire/openai-chat/index.js";
import { request } from "../wire/gemini/reading.js";

const { counter } = gemini;

function asked(body: object, model = "gemini-3-flash"): unknown {
  return JSON.parse(counter?.encode(request(body), model, {}).toString() ?? "");
}

describe("Google's own counting", () => {
  const contents = [{ role: "user", parts: [{ text: "hi" }] }];

  test("is asked for the whole request, which names its model", () => {
    const whole = { contents, systemInstruction: { parts: [{ text: "Be brief." }] } };
    expect(counter?.path("org/x")).toBe("/v1beta/models/org%2Fx:countTokens");
    expect(asked(whole)).toEqual({ generateContentRequest: { model: "models/gemini-3-flash", ...whole } });
    expect(asked({ model: "models/other", contents })).toEqual({
      generateContentRequest: { model: "models/gemini-3-flash", contents },
    });
  });

  test("is asked for what an OpenAI client says", () => {
    const body = Buffer.from(JSON.stringify({ model: "m", messages: [{ role: "user", content: "hi" }] }));
    const read = chat.readRequest({ wire: chat.name, body, headers: {} });
    expect(JSON.parse(counter?.encode(read, "gemini-3-flash", {}).toString() ?? "")).toEqual({
      generateContentRequest: { model: "models/gemini-3-flash", contents },
    });
  });

  test.each(["{}", "<html>", '{"totalTokens":-1}', '{"totalTokens":"7"}'])("refuses %s for an answer", (body) => {
    expect(() => counter?.read(Buffer.from(body))).toThrow();
  });

  test("reads the count", () => {
    expect(counter?.read(Buffer.from('{"totalTokens":7,"promptTokensDetails":[]}'))).toBe(7);
  });
});
