/** Which time a question about usage is of. */
import { expect, test } from "vitest";
import { KeySettings, QueryUsageRequest, UsageDimension } from "../../../src/api/index.js";
import type { Caller } from "../../../src/keys/caller.js";
import { callerOf } from "../../../src/keys/key-caller.js";
import { emptySettings } from "../../../src/keys/key-settings.js";
import { askedUsage } from "../../../src/rpc/methods/usage-query.js";

const NOW_MS = Date.parse("2026-11-23T12:00:00Z");
const DAY_MS = 86_400_000;
const ASKED = QueryUsageRequest.decode(new Uint8Array());
const OPERATOR = keyWith(["operator"]);

function keyWith(scopes: string[]): Caller {
  return callerOf({
    id: "key_probe",
    accountId: "root",
    makerId: null,
    settings: KeySettings.encode({ ...emptySettings(), scopes }).finish(),
    digest: new Uint8Array(32),
    previousDigest: null,
    previousUntilMs: null,
    hint: "",
    createTimeMs: 1,
    revokeTimeMs: null,
    revision: 1,
  });
}

test("without an end it goes on for as long as the answer takes, so that today is compared with the ledger", () => {
  const { filter } = askedUsage(ASKED, OPERATOR, NOW_MS);
  expect(filter.toMs).toBeGreaterThan(NOW_MS + 60_000);
  expect(filter.fromMs).toBe(NOW_MS + 1 - DAY_MS);
});

test("with an end it is of the day before that, unless a start says otherwise", () => {
  const { filter } = askedUsage({ ...ASKED, endTime: new Date(NOW_MS - DAY_MS) }, OPERATOR, NOW_MS);
  expect([filter.fromMs, filter.toMs]).toEqual([NOW_MS - 2 * DAY_MS, NOW_MS - DAY_MS - 1]);
});

const refusals: readonly {
  readonly name: string;
  readonly asked: Partial<QueryUsageRequest>;
  readonly says: string;
}[] = [
  { name: "an unknown time zone", asked: { timeZone: "Europe/Atlantis" }, says: "time_zone" },
  { name: "an offset for a time zone", asked: { timeZone: "+01:00" }, says: "time_zone" },
  { name: "the value of no tag", asked: { groupBy: [UsageDimension.USAGE_DIMENSION_TAG_VALUE] }, says: "tag_name" },
  { name: "a tag that nothing is grouped by", asked: { tagName: "team" }, says: "tag_name" },
];

test.each(refusals)("$name is refused", ({ asked, says }) => {
  expect(() => askedUsage({ ...ASKED, ...asked }, OPERATOR, NOW_MS)).toThrow(says);
});

test("only operators group by node", () => {
  const asked = { ...ASKED, groupBy: [UsageDimension.USAGE_DIMENSION_NODE] };
  expect(askedUsage(asked, OPERATOR, NOW_MS).dimensions).toEqual(["node"]);
  expect(() => askedUsage(asked, keyWith(["usage"]), NOW_MS)).toThrow("group_by");
});

test("days of a time zone and values of a tag", () => {
  const groupBy = [UsageDimension.USAGE_DIMENSION_DAY, UsageDimension.USAGE_DIMENSION_TAG_VALUE];
  const asked = { ...ASKED, groupBy, timeZone: "europe/berlin", tagName: "team" };
  expect(askedUsage(asked, OPERATOR, NOW_MS).dimensions).toEqual(["day@Europe/Berlin", "tag=team"]);
  expect(askedUsage({ ...asked, timeZone: "UTC" }, OPERATOR, NOW_MS).dimensions).toEqual(["day", "tag=team"]);
});
