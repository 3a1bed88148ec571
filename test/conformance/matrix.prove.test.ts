/** Every client format on every model family: each feature, whole and streamed, through the official packages. */
import { readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { ALL_PAIRS, testMatrix } from "./cells.js";
import { conformancePage, WRITE_VARIABLE } from "./document.js";

const matrix = testMatrix(ALL_PAIRS);

test("the page says what the run found", async () => {
  const page = await conformancePage(matrix());
  const path = new URL("../../docs/conformance.md", import.meta.url);
  if (process.env[WRITE_VARIABLE] !== undefined) writeFileSync(path, page);
  expect(readFileSync(path, "utf8")).toBe(page);
});
