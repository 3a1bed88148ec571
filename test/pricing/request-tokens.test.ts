/** What is counted of a request is what its upstream counted, where both are known. */
import { describe, expect, test } from "vitest";
import { countInput } from "../../src/pricing/request-tokens.js";
import { objectOf, parsed, textOf } from "../../src/wire/json/value.js";
import { wire } from "../../src/wire/openai-chat/index.js";
import { recordedChatTokens } from "../support/recorded-tokens.js";
import { answers, recordingsNote, streams } from "../wire/openai-chat/recordings.js";

// What a template writes of tools is not public: those are estimates.
const texts = [...answers, ...streams].filter(
  ({ name, request }) =>
    request !== undefined && !request.includes('"tools"') && recordedChatTokens[name] !== undefined,
);

describe(`a text in ${recordingsNote}`, () => {
  test.skipIf(answers.length === 0)("is there", () => {
    expect(texts.length).toBeGreaterThanOrEqual(3);
  });

  test.each(texts)("$name has as many tokens as its upstream said, or one off", async ({ name, request = "" }) => {
    const read = wire.readRequest({ wire: wire.name, body: Buffer.from(request), headers: {} }, "generate");
    const counted = await countInput(read, textOf(objectOf(parsed(request))?.["model"]));
    expect(Math.abs(counted - (recordedChatTokens[name]?.input ?? 0))).toBeLessThanOrEqual(1);
  });
});
