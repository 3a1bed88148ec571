/** Long answers are written in pieces, and say what they would say in one. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { methodByPath } from "../../src/api/descriptors.js";
import { RequestRecord, UsageServiceService, type UsageSum } from "../../src/api/index.js";
import { usageJson } from "../../src/api/usage-json.js";
import { usageFrom } from "../../src/api/usage.js";
import { responseJson } from "../../src/http/json-map.js";
import { listJson } from "../../src/http/request-list-answer.js";

const { listRequests, queryUsage } = UsageServiceService;
const count = fc.bigInt({ min: 0n, max: 2n ** 63n - 1n });
const money = fc.bigInt({ min: -(2n ** 62n), max: 2n ** 62n });
const ms = fc.double({ min: 0.05, max: 1e6, noNaN: true });
const times = fc.option(fc.record({ p50Ms: ms, p95Ms: ms, p99Ms: ms }), { nil: undefined });
const name = fc.string({ unit: "grapheme" });
const sum: fc.Arbitrary<UsageSum> = fc.record({
  values: fc.array(name, { maxLength: 2 }),
  requestCount: count,
  admittedCount: count,
  errors: fc.dictionary(fc.stringMatching(/^[A-Z_]{1,12}$/), count, { maxKeys: 3, noNullPrototype: true }),
  usage: count.map((tokens) => usageFrom((field) => tokens / BigInt(field.length))),
  costNanos: money,
  chargedNanos: money,
  operatorCostNanos: fc.option(money, { nil: undefined }),
  marginNanos: fc.option(money, { nil: undefined }),
  firstToken: times,
  total: times,
  cost: fc.constant(undefined),
  charged: fc.constant(undefined),
  operatorCost: fc.constant(undefined),
  margin: fc.constant(undefined),
});

test("a sum is the JSON text that any message is", () => {
  const { desc } = methodByPath(queryUsage.path);
  fc.assert(
    fc.property(fc.array(sum, { maxLength: 3 }), (sums) => {
      expect(`{"sums":[${sums.map(usageJson).join(",")}]}`).toBe(
        responseJson(desc, queryUsage.responseSerialize({ sums })),
      );
    }),
  );
});

test("a page of requests in pieces is the text of the whole", async () => {
  const { desc } = methodByPath(listRequests.path);
  for (const length of [0, 1, 20, 21, 95]) {
    const requests = Array.from({ length }, (_, at) => ({ ...RequestRecord.decode(new Uint8Array()), id: `[${at}]"` }));
    const page = { requests, nextPageToken: length > 1 ? "abc" : "" };
    let text = "";
    for await (const piece of listJson(desc, page)) text += piece;
    expect(text).toBe(responseJson(desc, listRequests.responseSerialize(page)));
  }
});
