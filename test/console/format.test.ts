/** Amounts as people scan them: cents, and below a cent four significant digits. */
import { expect, test } from "vitest";
import { money, scannedNanos } from "../../console/format.js";

test.each([
  ["0", "$0.00"],
  ["1", "$0.000000001"],
  ["123456", "$0.0001235"],
  ["9999999", "$0.01"],
  ["10000000", "$0.01"],
  ["14999999", "$0.01"],
  ["1234567890", "$1.23"],
  ["1235000000", "$1.24"],
  ["-123456", "−$0.0001235"],
  ["-5004999999", "−$5.00"],
  ["1234567890123456", "$1,234,567.89"],
])("%s nano-USD is scanned as %s", (nanos, want) => {
  expect(money(scannedNanos(BigInt(nanos)))).toBe(want);
});
