/** A request is told as the ledger has it, in every view: what it does not know was not charged. */
import { expect, test } from "vitest";
import { RequestState, UsageSource } from "../../../src/api/index.js";
import { FLAG } from "../../../src/records/columns.js";
import { messageOfUnknown } from "../../../src/rpc/methods/request-message.js";
import { rowWith } from "../../records/row.js";

const NOW_MS = Date.parse("2026-11-21T10:00:00Z");
const usageSource = UsageSource.USAGE_SOURCE_REPORTED;
const figures = { flags: FLAG.answered, usageSource, costNanos: 9, chargedNanos: 7, outputTokens: 5 };
const row = rowWith({ id: "req_1", account: "acme", endTimeMs: NOW_MS, ...figures });

test.each([
  { what: "that a crash took back", archivedMs: 0, state: RequestState.REQUEST_STATE_UNCHARGED, nanos: [0n, 0n, 0n] },
  { what: "that is archived", archivedMs: NOW_MS + 1, state: RequestState.REQUEST_STATE_SETTLED, nanos: [9n, 7n, 2n] },
])("a record of a request $what tells what the account paid", ({ archivedMs, state, nanos }) => {
  const { costNanos, chargedNanos, overageNanos, usage, ...told } = messageOfUnknown(row, archivedMs);
  expect([told.state, costNanos, chargedNanos, overageNanos]).toEqual([state, ...nanos]);
  expect(usage?.outputTokens).toBe(archivedMs === 0 ? 0n : 5n);
});
