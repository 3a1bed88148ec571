/** What a message over a WebSocket asks, of which little is parsed where it is read. */
import { afterEach, expect, test, vi } from "vitest";
import { readMessage } from "../../../src/wire/openai-responses/index.js";

const PARSED_CHARACTERS_MAX = 1_024;

afterEach(() => vi.restoreAllMocks());

test.each(["type", "generate", "previous_response_id", "stream_id"])(
  "a value of '%s' that is longer than any that means something is refused unparsed",
  (member) => {
    const parse = vi.spyOn(JSON, "parse");
    const type = member === "type" ? "" : '"type":"response.create",';
    for (const value of [`"${"a".repeat(100_000)}"`, `[${"{},".repeat(1_000)}0]`]) {
      const message = Buffer.from(`{${type}"model":"m","input":"hi","${member}":${value}}`);
      expect(() => readMessage(message, { id: "resp_1", items: Buffer.alloc(0) })).toThrow(
        expect.objectContaining({
          reason: "ERROR_REASON_PARAMETER_INVALID",
          metadata: expect.objectContaining({ param: member }),
        }),
      );
    }
    for (const [text] of parse.mock.calls) expect(text.length).toBeLessThanOrEqual(PARSED_CHARACTERS_MAX);
  },
);
