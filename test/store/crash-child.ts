/**
 * A process that writes to a ledger until it is killed, and says what was acknowledged. Run: crash-child DIRECTORY
 * ROUND.
 */
import { openSqliteStore } from "../../src/store/sqlite/store.js";
import { holdOf, settleOf } from "../ledger/operations.js";

/** How many requests it runs at once. */
const CALLERS = 16;

const [directory = "", round = ""] = process.argv.slice(2);

try {
  const store = await openSqliteStore({
    directory,
    onFatal: (error) => {
      process.stdout.write(`fatal ${error.message}\n`);
      process.exitCode = 3;
    },
  });
  const run = async (caller: number): Promise<void> => {
    for (let count = 0; ; count += 1) {
      const requestId = `${round}_${caller}_${count}`;
      await store.ledger.commit([holdOf({ requestId, nodeId: round })]);
      process.stdout.write(`h:${requestId}\n`);
      await store.ledger.commit([settleOf({ requestId })]);
      process.stdout.write(`s:${requestId}\n`);
    }
  };
  const refused = await Promise.allSettled(Array.from({ length: CALLERS }, (_, caller) => run(caller)));
  for (const result of refused)
    if (result.status === "rejected") process.stdout.write(`refused ${String(result.reason.reason)}\n`);
} catch (error) {
  process.stdout.write(`${String(error)}\n`);
  process.exitCode = 1;
}
