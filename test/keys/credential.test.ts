/** Where a call carries its secret. */
import { expect, test } from "vitest";
import { credentialOf } from "../../src/keys/credential.js";
import { FOREIGN, refusalOf } from "./key-world.js";

const OTHER = "sk-another-key-of-some-length";

test.each([
  { name: "a bearer token", metadata: { authorization: `Bearer ${FOREIGN}` }, want: FOREIGN },
  { name: "a scheme in lower case", metadata: { authorization: `bearer ${FOREIGN}` }, want: FOREIGN },
  {
    name: "a scheme in mixed case and more spaces",
    metadata: { authorization: `bEARER   ${FOREIGN} ` },
    want: FOREIGN,
  },
  { name: "x-api-key", metadata: { "x-api-key": FOREIGN }, want: FOREIGN },
  { name: "x-goog-api-key", metadata: { "x-goog-api-key": FOREIGN }, want: FOREIGN },
  { name: "both", metadata: { authorization: `Bearer ${FOREIGN}`, "x-api-key": OTHER }, want: FOREIGN },
  { name: "another scheme and x-api-key", metadata: { authorization: "Basic dTpw", "x-api-key": OTHER }, want: OTHER },
  {
    name: "an empty bearer token and x-api-key",
    metadata: { authorization: "Bearer ", "x-api-key": OTHER },
    want: OTHER,
  },
  { name: "both bare headers", metadata: { "x-goog-api-key": FOREIGN, "x-api-key": OTHER }, want: OTHER },
  { name: "another scheme alone", metadata: { authorization: "Basic dTpw" }, want: undefined },
  { name: "a bare secret as authorization", metadata: { authorization: FOREIGN }, want: undefined },
  { name: "a scheme without a space", metadata: { authorization: `Bearer${FOREIGN}` }, want: undefined },
  { name: "empty headers", metadata: { authorization: "", "x-api-key": "" }, want: undefined },
  { name: "no header", metadata: {}, want: undefined },
])("of $name", ({ metadata, want }) => {
  expect(credentialOf(metadata)).toBe(want);
});

test.each([
  { name: "a control character", secret: `${FOREIGN}\u0000` },
  { name: "a line feed", secret: `${FOREIGN}\nx-admin: 1` },
  { name: "a letter outside ASCII", secret: `${FOREIGN}ü` },
  { name: "513 characters", secret: `sk-${"x".repeat(510)}` },
])("$name is refused in each header, and not shown", async ({ secret }) => {
  for (const metadata of [
    { authorization: `Bearer ${secret}` },
    { "x-api-key": secret },
    { "x-goog-api-key": secret },
  ]) {
    const refusal = await refusalOf(() => credentialOf(metadata));
    expect(refusal.reason).toBe("ERROR_REASON_KEY_INVALID");
    expect(refusal.message).not.toContain(secret.slice(0, 8));
  }
});
