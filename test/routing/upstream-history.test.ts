/** What operators read of an upstream: changes of its health and failed attempts, the newest first. */
import { expect, test } from "vitest";
import { ErrorReason, UpstreamChangeKind } from "../../src/api/index.js";
import { shownHistory } from "../../src/routing/shown-history.js";
import { UpstreamHistory } from "../../src/routing/upstream-history.js";

test("the newest hundred are kept, and messages are cut", () => {
  let nowMs = 0;
  const history = new UpstreamHistory(() => ++nowMs);
  const attempt = { requestId: "req_1", model: "m", reason: "ERROR_REASON_UPSTREAM_FAILED", status: 529 };
  for (let count = 0; count < 120; count++) history.failed({ ...attempt, message: "Overloaded".repeat(100) });
  history.changed(undefined, { cause: "failing", isEjected: true, durationMs: 9.5, accountId: undefined });
  history.changed("m", { cause: "failing", isEjected: false, durationMs: 0, accountId: undefined });
  history.drained(true);
  const { changes, failures } = shownHistory(history);
  expect(failures).toHaveLength(100);
  expect(failures[0]).toMatchObject({ failureTime: new Date(120), httpStatus: 529 });
  expect(failures[0]?.errorReason).toBe(ErrorReason.ERROR_REASON_UPSTREAM_FAILED);
  expect(failures[0]?.message).toHaveLength(500);
  expect(changes.map(({ kind, model, coolingMs }) => [kind, model, coolingMs])).toEqual([
    [UpstreamChangeKind.UPSTREAM_CHANGE_KIND_DRAINED, "", 0n],
    [UpstreamChangeKind.UPSTREAM_CHANGE_KIND_RESTORED, "m", 0n],
    [UpstreamChangeKind.UPSTREAM_CHANGE_KIND_EJECTED, "", 10n],
  ]);
});
