/** Long answers are written in pieces, and say what they would say in one. */
import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { FeatureSet_FieldPresence } from "@bufbuild/protobuf/wkt";
import { fc } from "../support/seeds.js";
import { expect, test } from "vitest";
import { methodByPath } from "../../src/api/descriptors.js";
import { RequestRecord, UsageServiceService, type UsageSum } from "../../src/api/index.js";
import { MONEY } from "../../src/api/money-fields.js";
import { usageJson } from "../../src/api/usage-json.js";
import { usageFrom } from "../../src/api/usage.js";
import { responseJson } from "../../src/http/json-map.js";
import { listJson } from "../../src/http/request-list-answer.js";

const { listRequests, queryUsage } = UsageServiceService;
const TIMESTAMP = "google.protobuf.Timestamp";
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
  cacheSavedNanos: money,
  cacheSaved: fc.constant(undefined),
  streamedTokens: count,
  streamedMs: ms,
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

/** A message with any fields set, as the protocol's descriptor says them. */
function anyMessage(desc: DescMessage, depth = 3): fc.Arbitrary<object> {
  const fields = desc.fields.filter((field) => field.message?.typeName !== MONEY);
  return fc.record(Object.fromEntries(fields.map((field) => [field.localName, anyField(field, depth)])));
}

function anyField(field: DescField, depth: number): fc.Arbitrary<unknown> {
  const { message } = field;
  const one = message === undefined ? anyScalar(field) : message.typeName === TIMESTAMP ? time : inner(message, depth);
  if (field.fieldKind === "list") return depth > 0 ? fc.array(one, { maxLength: 2 }) : fc.constant([]);
  if (field.presence === FeatureSet_FieldPresence.IMPLICIT) return one;
  return fc.option(depth > 0 ? one : fc.constant(undefined), { nil: undefined });
}

const inner = (desc: DescMessage, depth: number): fc.Arbitrary<object> =>
  depth > 0 ? anyMessage(desc, depth - 1) : fc.constant({});
const time = fc.date({ noInvalidDate: true, min: new Date(0), max: new Date("9999-12-31T00:00:00Z") });

function anyScalar(field: DescField): fc.Arbitrary<unknown> {
  if (field.enum !== undefined) return fc.constantFrom(...field.enum.values.map(({ number }) => number), 12_345);
  switch (field.scalar) {
    case ScalarType.STRING:
      return name;
    case ScalarType.BOOL:
      return fc.boolean();
    case ScalarType.UINT64:
      return count;
    case ScalarType.INT64:
      return money;
    case ScalarType.DOUBLE:
      return fc.double();
    default:
      return fc.nat();
  }
}

test("a page of requests is the JSON text that any message is", async () => {
  const { desc } = methodByPath(listRequests.path);
  const request = desc.output.fields.find(({ name }) => name === "requests")?.message;
  const page = fc.record({
    requests: fc.array(anyMessage(request ?? desc.output), { maxLength: 3 }) as fc.Arbitrary<RequestRecord[]>,
    nextPageToken: name,
  });
  await fc.assert(
    fc.asyncProperty(page, async (some) => {
      let text = "";
      for await (const piece of listJson(desc, some)) text += piece;
      expect(text).toBe(responseJson(desc, listRequests.responseSerialize(some)));
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
