/** Records go from thread to thread as they are. */
import { expect, test } from "vitest";
import { pageOf, rowsOf } from "../../src/records/row-batch.js";
import { rowWith } from "./row.js";

test("the rows of a page are those that were given", async () => {
  const rows = Array.from({ length: 150 }, (_, at) =>
    rowWith({
      id: `req_${at}`,
      endTimeMs: at,
      account: `a${at % 3}`,
      tags: at % 2 === 0 ? "a=1\nb=2" : "",
      endUser: at % 5 === 0 ? "Åsa 山田 😀" : "",
      detail: "{}",
    }),
  );
  expect(await rowsOf(pageOf(rows))).toEqual(rows);
  expect(await rowsOf(pageOf([]))).toEqual([]);
});
