/**
 * A process that runs jobs and sessions until it is killed, and says what it was told. Run: spans-child DIRECTORY ROUND
 * JOBS, where JOBS are those that earlier rounds left open.
 */
import { partId } from "../../src/ledger/transfer.js";
import { Ledger } from "../../src/ledger/ledger.js";
import { openSqliteStore } from "../../src/store/sqlite/store.js";
import { costOfLine, JOB_LINES, jobOf, jobLine, sliceOf, sliceSettlement } from "./spans.js";

/** How many jobs and how many sessions run at once. */
const SIDE_BY_SIDE = 4;

const [directory = "", round = "", open = ""] = process.argv.slice(2);
const told = (line: string): void => void process.stdout.write(`${line}\n`);

const store = await openSqliteStore({ directory });
const ledger = new Ledger({ store, nodeId: `node-${round}`, nowMs: () => Date.now() });
await ledger.start();

/** What was settled before a kill is settled once more: nobody knows which lines that were. */
async function finish(jobId: string): Promise<void> {
  await ledger.jobs.reserve(jobOf(jobId)).catch(() => undefined);
  for (let line = 1; line <= JOB_LINES; line += 1) {
    const { chargedNanos } = await ledger.jobs.settle(jobLine(jobId, line));
    told(`charged ${partId(jobId, line)} ${chargedNanos} ${costOfLine(line)}`);
  }
  await ledger.jobs.end(jobId);
  told(`ended ${jobId}`);
}

async function jobs(place: number): Promise<never> {
  for (let count = 0; ; count += 1) {
    const jobId = `job-${round}-${place}-${count}`;
    told(`begins ${jobId}`);
    await ledger.jobs.reserve(jobOf(jobId));
    await finish(jobId);
  }
}

async function sessions(place: number): Promise<never> {
  for (let count = 0; ; count += 1) {
    const sessionId = `session-${round}-${place}-${count}`;
    const slices = await ledger.session(sessionId, sliceOf());
    for (let turn = 1; turn <= 4; turn += 1) {
      const id = slices.requestId;
      await slices.renew();
      slices.checkpoint(sliceSettlement());
      const ending = turn < 4 ? slices.turn(sliceSettlement()) : slices.end(sliceSettlement());
      told(`charged ${id} ${(await ending)?.chargedNanos} ${sliceSettlement().costNanos}`);
    }
  }
}

for (const jobId of open.split(",").filter((id) => id !== "")) await finish(jobId);
told("ready");
const places = Array.from({ length: SIDE_BY_SIDE }, (_, place) => place);
await Promise.all([...places.map(jobs), ...places.map(sessions)]);
