/** Which time a question about usage is of. */
import { expect, test } from "vitest";
import { KeySettings, QueryUsageRequest } from "../../../src/api/index.js";
import { callerOf } from "../../../src/keys/key-caller.js";
import { emptySettings } from "../../../src/keys/key-settings.js";
import { askedUsage } from "../../../src/rpc/methods/usage-query.js";

const NOW_MS = Date.parse("2026-11-23T12:00:00Z");
const DAY_MS = 86_400_000;
const ASKED = QueryUsageRequest.decode(new Uint8Array());
const OPERATOR = callerOf({
  id: "key_probe",
  accountId: "root",
  makerId: null,
  settings: KeySettings.encode({ ...emptySettings(), scopes: ["operator"] }).finish(),
  digest: new Uint8Array(32),
  previousDigest: null,
  previousUntilMs: null,
  hint: "",
  createTimeMs: 1,
  revokeTimeMs: null,
  revision: 1,
});

test("without an end it goes on for as long as the answer takes, so that today is compared with the ledger", () => {
  const { filter } = askedUsage(ASKED, OPERATOR, NOW_MS);
  expect(filter.toMs).toBeGreaterThan(NOW_MS + 60_000);
  expect(filter.fromMs).toBe(NOW_MS + 1 - DAY_MS);
});

test("with an end it is of the day before that, unless a start says otherwise", () => {
  const { filter } = askedUsage({ ...ASKED, endTime: new Date(NOW_MS - DAY_MS) }, OPERATOR, NOW_MS);
  expect([filter.fromMs, filter.toMs]).toEqual([NOW_MS - 2 * DAY_MS, NOW_MS - DAY_MS - 1]);
});
