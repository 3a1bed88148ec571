/** The ids of requests: none comes again, and later ones are greater. */
import { expect, test } from "vitest";
import { requestIdsBy } from "../../src/serve/request-id.js";

test("ids beyond what is drawn at once differ, and grow with time", () => {
  let nowMs = 1_000;
  const makeRequestId = requestIdsBy(() => nowMs);
  const first = Array.from({ length: 600 }, makeRequestId);
  for (const id of first) expect(id).toMatch(/^[0-9a-f]{32}$/);
  expect(new Set(first).size).toBe(600);
  expect(new Set(first.map((id) => id.slice(12))).size).toBe(600);
  nowMs += 1;
  const later = makeRequestId();
  for (const id of first) expect(later > id).toBe(true);
});
