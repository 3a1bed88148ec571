/** What an upstream repeats of a request is cut out of its words. */
import { expect, test } from "vitest";
import { withoutEcho } from "../../../src/wire/error/echo.js";
import type { WireRequest } from "../../../src/wire/wire.js";

const asking = (text: string): WireRequest =>
  ({ source: { wire: "openai-chat", body: Buffer.from(JSON.stringify({ text })), headers: {} } }) as WireRequest;

const PROMPT = "please summarise: patient Jane Roe, born in Århus";

test.each([
  { said: `Invalid prompt: ${PROMPT}.`, kept: "Invalid prompt: ...." },
  { said: `'${PROMPT}' is long, and '${PROMPT}' again`, kept: "'...' is long, and '...' again" },
  { said: "no such model", kept: "no such model" },
  { said: "short", kept: "short" },
  { said: "", kept: "" },
])("$said", ({ said, kept }) => {
  // Wherever in the body it stands.
  for (let before = 0; before < 12; before++) expect(withoutEcho(said, asking("x".repeat(before) + PROMPT))).toBe(kept);
});

test("of a request that is too long to compare nothing is said", () => {
  expect(withoutEcho("an upstream's words", asking("x".repeat(1_100_000)))).toBe("");
});
