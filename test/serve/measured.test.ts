/** What is told of the ledger's commits: whenever it is read, there are as many sizes as times. */
import { expect, test } from "vitest";
import { Metrics } from "../../src/observe/metrics.js";
import { measured } from "../../src/serve/node-readings.js";
import type { Store } from "../../src/store/store.js";
import { MetricsReading } from "../support/metrics-reading.js";

test.each(["comes in", "fails"])("a commit is told whole when it ends, and not before, where it %s", async (end) => {
  const metrics = new Metrics();
  const counts = async (): Promise<unknown> => {
    const reading = new MetricsReading(await metrics.text());
    const [size, time] = ["tollgate_ledger_batch_operations", "tollgate_ledger_commit_seconds"];
    return [`${size}_count`, `${time}_count`, `${size}_sum`].map((series) => reading.value(series) ?? 0);
  };
  let isEnded = (): void => undefined;
  const running = new Promise<void>((resolve) => (isEnded = resolve));
  const commit = async (): Promise<never[]> => {
    await running;
    if (end === "fails") throw new Error("the disk is full");
    return [];
  };
  const committed = measured<{ ledger: Pick<Store["ledger"], "commit"> }>(
    { ledger: { commit } },
    metrics,
  ).ledger.commit([{ kind: "beat", nodeId: "node_1", nowMs: 0, isLast: false }]);
  expect(await counts()).toEqual([0, 0, 0]);
  isEnded();
  await committed.catch(() => undefined);
  expect(await counts()).toEqual([1, 1, 1]);
});
