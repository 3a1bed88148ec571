/** The strict JSON reader against JSON.parse, and at its bounds. */
import { fc } from "../../support/seeds.js";
import { describe, expect, test } from "vitest";
import { GatewayError } from "../../../src/base/errors.js";
import { JSON_NODES_MAX, JsonCursor } from "../../../src/wire/json/cursor.js";
import { readTree } from "../../../src/wire/json/node.js";

function problemOf(bytes: Buffer): string | undefined {
  try {
    const cursor = new JsonCursor(bytes);
    cursor.skip();
    cursor.finish();
    return undefined;
  } catch (error) {
    expect(error).toBeInstanceOf(GatewayError);
    const refusal = GatewayError.from(error);
    expect(refusal.reason).toBe("ERROR_REASON_BODY_INVALID");
    return refusal.metadata["problem"];
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** The bytes at an address that is no multiple of a word, amid bytes that would end a string. */
function shifted(text: string, by: number): Buffer {
  const memory = Buffer.alloc(Buffer.byteLength(text) + by + 8, '"');
  const end = by + memory.write(text, by);
  return memory.subarray(by, end);
}

describe("what is refused", () => {
  test.each([
    ["", "not valid JSON at byte 0"],
    ["  ", "not valid JSON at byte 2"],
    ["{", "not valid JSON at byte 1"],
    ['{"a":1', "not valid JSON at byte 6"],
    ['{"a":1,}', "not valid JSON at byte 7"],
    ['{"a" 1}', "not valid JSON at byte 5"],
    ["{a:1}", "not valid JSON at byte 1"],
    ["[1,]", "not valid JSON at byte 3"],
    ["[1 2]", "not valid JSON at byte 3"],
    ["[,1]", "not valid JSON at byte 1"],
    ["[1]]", "not valid JSON at byte 3"],
    ["[}", "not valid JSON at byte 1"],
    ['{"a":1]', "not valid JSON at byte 6"],
    ["01", "not valid JSON at byte 1"],
    ["-", "not valid JSON at byte 1"],
    ["1.", "not valid JSON at byte 2"],
    [".5", "not valid JSON at byte 0"],
    ["1e", "not valid JSON at byte 2"],
    ["+1", "not valid JSON at byte 0"],
    ["tru", "not valid JSON at byte 0"],
    ["truee", "not valid JSON at byte 4"],
    ["nul", "not valid JSON at byte 0"],
    ["NaN", "not valid JSON at byte 0"],
    ["'a'", "not valid JSON at byte 0"],
    ['"a', "not valid JSON at byte 2"],
    ['"a\nb"', "not valid JSON at byte 2"],
    ['"abcdefgh\u0000ijklmnop"', "not valid JSON at byte 9"],
    ['"\\x"', "not valid JSON at byte 2"],
    ['"\\u12g4"', "not valid JSON at byte 5"],
    ['"\\u12', "not valid JSON at byte 5"],
    ['"\\', "not valid JSON at byte 2"],
    ["\ufeff{}", "not valid JSON at byte 0"],
    ["{} // no", "not valid JSON at byte 3"],
    ['{"__proto__":1}', "the key '__proto__' is not allowed"],
    ['[{"a":{"\\u005f_proto__":{}}}]', "the key '__proto__' is not allowed"],
  ])("%j", (text, problem) => {
    for (let by = 0; by < 4; by++) expect(problemOf(shifted(text, by))).toBe(problem);
  });

  test("bytes that are no UTF-8", () => {
    expect(problemOf(Buffer.from([0x22, 0xc3, 0x28, 0x22]))).toBe("not valid UTF-8");
  });

  test.each([
    ["arrays", "[", "]"],
    ["objects", '{"a":', "}"],
  ])("%s nested too deeply, and no deeper nesting overflows the stack", (_name, open, close) => {
    const nested = (depth: number): Buffer => Buffer.from(`${open.repeat(depth)}1${close.repeat(depth)}`);
    expect(problemOf(nested(64))).toBeUndefined();
    expect(problemOf(nested(65))).toBe("nested deeper than 64 levels");
    expect(problemOf(nested(100_000))).toBe("nested deeper than 64 levels");
  });

  test.each([
    { name: "arrays", open: "[", close: "]", good: "1,2", bad: "1 2" },
    { name: "objects", open: '{"a":', close: "}", good: '1,"b":2', bad: '1 "b":2' },
  ])("the deepest of $name are looked at as all others are", ({ open, close, good, bad }) => {
    const nested = (inner: string): Buffer => Buffer.from(`${open.repeat(64)}${inner}${close.repeat(64)}`);
    expect(problemOf(nested(good))).toBeUndefined();
    expect(problemOf(nested(bad))).toMatch(/^not valid JSON at byte/);
  });

  test("more values than the bound", () => {
    const values = (count: number): Buffer => Buffer.from(`[${"1,".repeat(count - 1)}1]`);
    expect(problemOf(values(JSON_NODES_MAX - 1))).toBeUndefined();
    expect(problemOf(values(JSON_NODES_MAX))).toBe(`it holds more than ${JSON_NODES_MAX} values; send fewer`);
  });
});

describe("against JSON.parse", () => {
  const json = fc.json({ maxDepth: 6 });

  test("accepts what it accepts", () => {
    fc.assert(
      fc.property(json, fc.nat(3), fc.constantFrom(0, 2), (text, by, indent) => {
        fc.pre(!text.includes("__proto__"));
        const spaced = JSON.stringify(JSON.parse(text), null, indent);
        expect(problemOf(shifted(spaced, by))).toBeUndefined();
      }),
    );
  });

  test("refuses what it refuses, after any change of one byte", () => {
    const changes = fc.constantFrom(...'{}[]",:\\0 1-.eEtn\n\u0001/u');
    fc.assert(
      fc.property(json, fc.nat(), changes, fc.nat(2), (text, place, change, kind) => {
        fc.pre(!text.includes("__proto__"));
        const at = place % (text.length + 1);
        const changed = text.slice(0, at) + (kind === 2 ? "" : change) + text.slice(at + (kind === 0 ? 0 : 1));
        expect(problemOf(Buffer.from(changed)) === undefined).toBe(isJson(Buffer.from(changed).toString()));
      }),
      { numRuns: 1000 },
    );
  });

  test("reads the same strings, keys and numbers", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "binary" }),
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        (text, number) => {
          const [key, value] = [Buffer.from(text).toString(), number];
          fc.pre(key !== "__proto__");
          const cursor = new JsonCursor(Buffer.from(JSON.stringify({ [key]: [value, key] })));
          cursor.enterObject();
          expect(cursor.nextKey()).toBe(key);
          cursor.enterArray();
          expect(cursor.nextItem()).toBe(true);
          expect(cursor.readNumber() === value).toBe(true);
          expect(cursor.nextItem()).toBe(true);
          expect(cursor.readString()).toBe(key);
          expect(cursor.nextItem()).toBe(false);
          expect(cursor.nextKey()).toBeUndefined();
          cursor.finish();
        },
      ),
    );
  });
});

test("a tree keeps the digits and the order of what it read", () => {
  const tree = readTree(Buffer.from('{"b": {"2":1, "1":123456789012345678901234567890.10}, "a":"\\u00e9"}'));
  expect(tree.members.get("b")?.raw()).toBe('{"2":1, "1":123456789012345678901234567890.10}');
  expect(tree.members.get("a")?.text).toBe("é");
});
