/** The records of requests as a core keeps them, in a folder of their own. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { Records } from "../../src/records/records.js";
import { NOW_MS } from "./open-core.js";

/** Of no root secret. */
const CONTENT = { keys: [Buffer.alloc(32, 7)], previous: undefined, keptMs: 86_400_000 };

/** Any failure of theirs fails the test. */
export async function openRecords(): Promise<{ readonly records: Records; close(): Promise<void> }> {
  const directory = await mkdtemp(join(tmpdir(), "tollgate-records-"));
  const fail = (problem: unknown): never => expect.unreachable(String(problem));
  const retention = { recordsMs: 86_400_000, refusalsMs: 86_400_000 };
  const nowMs = (): number => NOW_MS;
  const records = await Records.open({
    place: { directory },
    retention,
    nowMs,
    onDropped: fail,
    onError: fail,
    content: CONTENT,
    onRefusalsLeftOut: fail,
    onContentDropped: fail,
  });
  return {
    records,
    async close() {
      await records.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
