/** Records go from thread to thread as they are. */
import { expect, test } from "vitest";
import { batchOf, rowsOf } from "../../src/records/row-batch.js";
import { rowWith } from "./row.js";

test("the rows of a batch are those that were pushed", async () => {
  const rows = Array.from({ length: 150 }, (_, at) =>
    rowWith({
      id: `req_${at}`,
      endTimeMs: at,
      account: `a${at % 3}`,
      tags: at % 2 === 0 ? "a=1\nb=2" : "",
      detail: "{}",
    }),
  );
  expect(await rowsOf(batchOf(rows))).toEqual(rows);
  expect(await rowsOf(batchOf([]))).toEqual([]);
});
