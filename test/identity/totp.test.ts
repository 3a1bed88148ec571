/** One-time codes are those of RFC 6238, whose appendix B has them. */
import { expect, test } from "vitest";
import { base32, codeOf, otpauthUri, stepAt, stepOf } from "../../src/identity/totp.js";

const SECRET = Buffer.from("12345678901234567890");

test.each([
  { timeS: 59, code: "287082" },
  { timeS: 1_111_111_109, code: "081804" },
  { timeS: 1_111_111_111, code: "050471" },
  { timeS: 1_234_567_890, code: "005924" },
  { timeS: 2_000_000_000, code: "279037" },
  { timeS: 20_000_000_000, code: "353130" },
])("at $timeS s it is $code", ({ timeS, code }) => {
  expect(codeOf(SECRET, stepAt(timeS * 1_000))).toBe(code);
});

test.each([
  { offMs: 0, counts: true },
  { offMs: 30_000, counts: true },
  { offMs: -30_000, counts: true },
  { offMs: 60_000, counts: false },
  { offMs: -60_000, counts: false },
])("a clock that is $offMs ms off: $counts", ({ offMs, counts }) => {
  const nowMs = 1_234_567_890_000;
  expect(stepOf(SECRET, codeOf(SECRET, stepAt(nowMs + offMs)), nowMs) !== undefined).toBe(counts);
});

test.each(["", "1", "2870820", "abcdef", "28708２"])("%j is no code", (code) => {
  expect(stepOf(SECRET, code, 59_000)).toBeUndefined();
});

test("a code may be typed with a space, as it is shown", () => {
  expect(stepOf(SECRET, "287 082", 59_000)).toBe(1);
});

test.each([
  ["", ""],
  ["f", "MY"],
  ["fo", "MZXQ"],
  ["foo", "MZXW6"],
  ["foob", "MZXW6YQ"],
  ["fooba", "MZXW6YTB"],
  ["foobar", "MZXW6YTBOI"],
])("base32 of %j is %j", (text, want) => {
  expect(base32(Buffer.from(text))).toBe(want);
});

test("the address holds what an authenticator shows", () => {
  expect(otpauthUri("Tollgate", "a+b@example.com", "MZXW6")).toBe(
    "otpauth://totp/Tollgate:a%2Bb%40example.com?secret=MZXW6&issuer=Tollgate",
  );
});
