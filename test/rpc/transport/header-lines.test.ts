/** Headers as lines: they carry what gRPC's own metadata carries, and nothing can slip in between them. */
import { fc } from "../../support/seeds.js";
import { describe, expect, test } from "vitest";
import { readMetadata, writeMetadata } from "../../../src/rpc/call/metadata.js";
import { readHeaderLines, writeHeaderLines } from "../../../src/rpc/transport/header-lines.js";

const NAME = fc.oneof(
  fc.constantFrom("x-api-key", "content-type", "grpc-timeout", "x-bin", "te", "authorization", "x-tollgate-front"),
  fc.stringMatching(/^[0-9a-z_.-]{1,20}$/).filter((name) => name !== "__proto__"),
);

describe("headers as lines", () => {
  test("carry what metadata carries", () => {
    fc.assert(
      fc.property(fc.dictionary(NAME, fc.string({ unit: "grapheme" }), { maxKeys: 8 }), (headers) => {
        expect(readHeaderLines(writeHeaderLines(headers))).toEqual(readMetadata(writeMetadata(headers)));
      }),
    );
  });

  test("a line break in a value makes no header", () => {
    const lines = writeHeaderLines({ "x-one": "a\nx-two:b\r\nx-three:c" });
    expect(readHeaderLines(lines)).toEqual({ "x-one": "a?x-two:b??x-three:c" });
  });

  test("what should stay behind does", () => {
    expect(writeHeaderLines({ a: "1", secret: "2" }, "secret")).toBe("a:1\n");
  });

  test.each(["Upper", "with space", "a:b", "", "a\nb"])("%j is no name", (name) => {
    expect(() => writeHeaderLines({ [name]: "x" })).toThrow(/no name|no header/);
  });

  test.each(["x", "x\n", ":x\n", "a:b", "a:b\nc", "a:b\n\n"])("%j is refused", (lines) => {
    expect(() => readHeaderLines(lines)).toThrow();
  });
});
