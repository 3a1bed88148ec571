/** Messages as bytes: what the kept writer makes is what the generated code makes, whatever went wrong before. */
import { describe, expect, test } from "vitest";
import { FrontServiceService, InferenceServiceService } from "../../../src/api/index.js";
import { KeptWriter, requestBytes, responseBytes } from "../../../src/rpc/transport/message-bytes.js";

const { streamGenerate, generate } = InferenceServiceService;
const { checkCaller } = FrontServiceService;

function asking(bytes: number) {
  const value = { wire: "openai-chat", body: Buffer.alloc(bytes, 7), headers: { a: "b" } };
  const input = { $case: "source" as const, value };
  return { generation: { model: "m", input, outputTokensMax: 3n, clamp: true }, acceptWire: "openai-chat" };
}

describe("bytes of a message", () => {
  test.each([0, 10, 100_000, 5_000_000, 10])("with a body of %d are the generated code's", (bytes) => {
    const request = asking(bytes);
    expect(requestBytes(streamGenerate, request).equals(streamGenerate.requestSerialize(request))).toBe(true);
    expect(requestBytes(generate, request).equals(generate.requestSerialize(request))).toBe(true);
    const response = { events: [], source: Buffer.alloc(bytes, 9) };
    expect(responseBytes(streamGenerate, response).equals(streamGenerate.responseSerialize(response))).toBe(true);
  });

  test("of any other method are the generated code's too", () => {
    const request = { scope: "chat", beginsRequest: false, method: "" };
    expect(requestBytes(checkCaller, request)).toEqual(checkCaller.requestSerialize(request));
  });

  test("stay what they were when the next message is written", () => {
    const first = requestBytes(streamGenerate, asking(1_000));
    const before = Buffer.from(first);
    requestBytes(streamGenerate, asking(2_000));
    expect(first.equals(before)).toBe(true);
  });

  test("hold nothing of a message that failed half way", () => {
    const kept = new KeptWriter();
    const failing = () =>
      kept.bytes((writer) => {
        writer.uint32(10).string("another caller's words");
        throw new Error("half way");
      });
    expect(failing).toThrow("half way");
    expect(kept.bytes((writer) => writer.uint32(8))).toEqual(Buffer.from([8]));
  });
});
