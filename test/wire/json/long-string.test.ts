/** Long strings, passed by vectors, against a reader that looks at one byte after the other. */
import { fc } from "../../support/seeds.js";
import { describe, expect, test, vi } from "vitest";
import type { GatewayError } from "../../../src/base/errors.js";
import { JsonCursor } from "../../../src/wire/json/cursor.js";
import { longStrings } from "../../../src/wire/json/long-string.js";

interface Read {
  /** The string's end, or where it is wrong. */
  readonly problem: string | undefined;
  readonly text: string | undefined;
  readonly spelled: boolean;
}

function read(bytes: Buffer, Cursor = JsonCursor): Read {
  const cursor = new Cursor(bytes);
  try {
    const text = cursor.readString();
    cursor.finish();
    return { problem: undefined, text, spelled: cursor.hasUnicodeEscapes };
  } catch (error) {
    // Of modules that were loaded twice, each has an error of its own.
    const { metadata } = error as GatewayError;
    return { problem: metadata["problem"], text: undefined, spelled: false };
  }
}

/** By the grammar of RFC 8259, 7, one byte at a time. */
function readSlowly(bytes: Buffer): Read {
  const wrong = (at: number): Read => ({ problem: `not valid JSON at byte ${at}`, text: undefined, spelled: false });
  let spelled = false;
  let at = 1;
  while (bytes[at] !== 0x22) {
    const byte = bytes[at];
    if (byte === undefined || byte < 0x20) return wrong(at);
    if (byte !== 0x5c) {
      at += 1;
      continue;
    }
    const escape = bytes[at + 1];
    if (escape === undefined || !'"\\/bfnrtu'.includes(String.fromCharCode(escape))) return wrong(at + 1);
    at += 2;
    if (escape !== 0x75) continue;
    spelled = true;
    for (const last = at + 4; at < last; at += 1)
      if (!/[0-9a-f]/i.test(String.fromCharCode(bytes[at] ?? 0))) return wrong(at);
  }
  if (at + 1 !== bytes.length) return wrong(at + 1);
  return { problem: undefined, text: JSON.parse(bytes.toString()) as string, spelled };
}

const PIECES = [
  "x",
  '\\"',
  "\\\\",
  "\\n",
  "\\/",
  "\\u00e9",
  "\\uD83D\\ude00",
  "é",
  "漢",
  "\u{1f600}",
  "{",
  ",",
  "u",
  "n",
];
/** What ends a string, or breaks it. */
const BREAKS = ['"', "\n", "\u0000", "\u001f", "\\x", "\\", "\\u12g4", "\\u", "\\u123", "\\\n", "\\é"];

/** Text about so long, of pieces that cluster in every way. */
function textOf(length: number): fc.Arbitrary<string> {
  const run = fc
    .tuple(fc.constantFrom(...PIECES), fc.oneof({ weight: 3, arbitrary: fc.integer({ min: 1, max: 5 }) }, fc.nat(150)))
    .map(([piece, times]) => piece.repeat(times));
  return fc.array(run, { minLength: 1, maxLength: 40 }).map((runs) => {
    const text = runs.join("");
    return text.repeat(Math.max(1, Math.floor(length / Math.max(1, text.length))));
  });
}

describe.each([200, 1_200, 5_000])("strings of about %i bytes", (length) => {
  test("are read, or refused at the same byte, whatever stands in them", () => {
    fc.assert(
      fc.property(
        textOf(length),
        fc.constantFrom("", ...BREAKS),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (text, broken, share) => {
          const at = Math.floor(share * text.length);
          const bytes = Buffer.from(`"${text.slice(0, at)}${broken}${text.slice(at)}"`);
          expect(read(bytes)).toEqual(readSlowly(bytes));
        },
      ),
      { numRuns: 400 },
    );
  });
});

describe("at every distance from where a copy or a block of bytes ends", () => {
  const tails = ['"', '\\n"', '\\\\"', '\\\\\\""', '\\u00e9"', "\\", "\\u00", "\\ux", "\n", ""];

  test.each([
    ["the first vectors", 128, 70],
    ["the first copy", 128 + 1024, 70],
    ["the second copy", 128 + 1024 + 2048, 8],
    ["a copy of the largest size", 128 + 1024 * 127, 8],
  ])("%s", (_name, place, around) => {
    for (let start = place - around; start <= place + around; start += 1) {
      for (const tail of tails) {
        const bytes = Buffer.from(`"${"x".repeat(start - 1)}${tail}`);
        expect(read(bytes), `${tail} at ${start}`).toEqual(readSlowly(bytes));
      }
    }
  });

  test("runs of backslashes of each length, which an odd number makes an escape", () => {
    for (let before = 120; before < 200; before += 1) {
      for (const count of [1, 2, 3, 4, 63, 64, 65, 66, 127, 128, 129]) {
        const bytes = Buffer.from(`"${"y".repeat(before)}${"\\".repeat(count)}"${"z".repeat(200)}"`);
        expect(read(bytes), `${count} behind ${before}`).toEqual(readSlowly(bytes));
      }
    }
  });
});

test("what one string leaves in the window is not read as another's", () => {
  const long = Buffer.from(`"${"a".repeat(3000)}\\u00e9"`);
  expect(read(long).spelled).toBe(true);
  const short = Buffer.from(`"${"b".repeat(300)}"`);
  expect(read(short)).toEqual({ problem: undefined, text: "b".repeat(300), spelled: false });
  expect(read(short.subarray(0, 200)).problem).toBe("not valid JSON at byte 200");
});

test("a processor without the vectors reads the same", async () => {
  expect(longStrings).toBeDefined();
  vi.resetModules();
  vi.stubGlobal("WebAssembly", {
    Module: function Module() {
      throw new Error("Wasm SIMD unsupported");
    },
  });
  const { longStrings: none } = await import("../../../src/wire/json/long-string.js");
  const { JsonCursor: PlainCursor } = await import("../../../src/wire/json/cursor.js");
  vi.unstubAllGlobals();
  expect(none).toBeUndefined();
  expect(PlainCursor).not.toBe(JsonCursor);
  for (const tail of ['"', '\\u00e9"', "\\", "\\ux", "\n", ""]) {
    const bytes = Buffer.from(`"${"x".repeat(3000)}${tail}`);
    expect(read(bytes, PlainCursor)).toEqual(readSlowly(bytes));
  }
});
