/** Whatever comes, the wire answers with a refusal of its own or reads on: it never breaks. */
import { fc } from "../../support/seeds.js";
import { expect, test } from "vitest";
import { GatewayError } from "../../../src/base/errors.js";
import { wire } from "../../../src/wire/gemini/index.js";
import { wire as openAiChat } from "../../../src/wire/openai-chat/index.js";
import { owned, readStream, request, sse } from "./reading.js";

const NAMES = [
  ["candidates", "content", "parts", "text", "thought", "thoughtSignature", "functionCall", "name", "args", "id"],
  ["inlineData", "mimeType", "data", "fileData", "fileUri", "functionResponse", "response", "partialArgs"],
  ["jsonPath", "stringValue", "willContinue", "finishReason", "index", "usageMetadata", "promptTokenCount"],
  ["promptFeedback", "blockReason", "error", "message", "status", "details", "logprobsResult", "topCandidates"],
  ["chosenCandidates", "role", "tools", "functionDeclarations", "parameters", "type", "properties", "items"],
  ["generationConfig", "thinkingConfig", "thinkingLevel", "stopSequences", "responseSchema", "toolConfig"],
].flat();

/** JSON whose names the wire knows, and whose values are anything. */
const value: fc.Arbitrary<unknown> = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 6, withCrossShrink: true },
    fc.constantFrom(null, true, 0, -1, 1e300, "", "x", "STOP", "$.a[3].b", "image/png", "user", "model", "OBJECT"),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...NAMES), tie("value"), { maxKeys: 5 }),
  ),
})).value;

function tolerated<Result>(work: () => Result): Result | undefined {
  try {
    return work();
  } catch (error) {
    expect(error).toBeInstanceOf(GatewayError);
    expect(error).not.toMatchObject({ reason: "ERROR_REASON_INTERNAL" });
    return undefined;
  }
}

test("any answer is read or refused, streamed and whole, and can be told to a chat client", () => {
  const chunk = fc.record({ candidates: fc.array(fc.record({ content: fc.record({ parts: fc.array(value) }) })) });
  fc.assert(
    fc.property(fc.oneof(value, chunk), value, (first, second) => {
      const json = [first, second].map((item) => JSON.stringify(item));
      const read = readStream(Buffer.from(sse(...json)), "events");
      expect(read.error?.reason).not.toBe("ERROR_REASON_INTERNAL");
      openAiChat.encodeStream({ ...request({ contents: [{}] }).facts, includeUsage: true }).push(read.events);
      tolerated(() => wire.decodeAnswer(Buffer.from(json[0] ?? "")).events());
      wire.decodeError(400, {}, Buffer.from(json[0] ?? ""));
    }),
    { numRuns: 500 },
  );
});

test("any request is read or refused, and can be told to a chat upstream", () => {
  const body = fc.record(
    {
      contents: fc.array(fc.record({ role: fc.constantFrom("user", "model"), parts: fc.array(value) }), {
        minLength: 1,
      }),
      systemInstruction: value,
      tools: fc.array(value),
      toolConfig: value,
      generationConfig: value,
    },
    { requiredKeys: ["contents"] },
  );
  fc.assert(
    fc.property(body, (asked) => {
      tolerated(() => {
        const read = request(asked);
        wire.encodeRequest(read, owned({ outputTokensMax: 5 }), {});
        openAiChat.encodeRequest(read, owned({ outputTokensMax: 5 }), {});
      });
    }),
    { numRuns: 500 },
  );
});
