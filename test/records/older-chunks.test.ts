/** Records of an earlier program, which took Claude Code's session for a person, are shown as this one keeps them. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { attributesOf } from "../../src/records/attributes.js";
import type { RecordRow } from "../../src/records/columns.js";
import { Engine } from "../../src/records/engine.js";
import type { RecordFilter } from "../../src/records/filter.js";
import { BatchBuilder } from "../../src/records/row-batch.js";
import { openSqliteChunks } from "../../src/records/sqlite-chunks.js";
import type { Dimension } from "../../src/records/usage-codes.js";
import { rowWith } from "./row.js";
import { CLAUDE_CODE_IDS, PEOPLE } from "./user-ids.js";

const TIME_MS = 1_795_219_200_000;
const ALL: RecordFilter = { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER, names: {} };
const IDS = [...CLAUDE_CODE_IDS.map(({ id }) => id), ...PEOPLE, ""];

function idAt(at: number): string {
  return `req_${(TIME_MS + at).toString(16).padStart(12, "0")}${String(at).padStart(20, "0")}`;
}

/** As an earlier program stored them: the first 256 characters are the end user. */
const STORED: readonly RecordRow[] = IDS.map((id, at) => {
  const endUser = id.slice(0, 256).replaceAll("\n", " ");
  const more = { account: "acme", model: "m", tags: "team=search", session: at === 0 ? "own" : "" };
  return rowWith({ id: idAt(at), endTimeMs: TIME_MS + at, endUser, ...more });
});

function batchOf(rows: readonly RecordRow[]): ReturnType<BatchBuilder["take"]> {
  const builder = new BatchBuilder();
  for (const row of rows) builder.push(row);
  return builder.take();
}

/** An engine that finds what another one stored, in one chunk. */
async function laterEngine(): Promise<Engine> {
  const directory = await mkdtemp(join(tmpdir(), "tollgate-records-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const earlier = new Engine(openSqliteChunks(directory));
  await earlier.append(batchOf(STORED));
  await earlier.close();
  const engine = new Engine(openSqliteChunks(directory));
  onTestFinished(() => engine.close());
  return engine;
}

/** What this program keeps of the same request. */
function kept(id: string, at: number): Pick<RecordRow, "endUser" | "session"> {
  const metadata = at === 0 ? { "x-tollgate-conversation": "own" } : {};
  const { endUser, session } = attributesOf({ ...metadata, "x-tollgate-user": id }, undefined);
  return { endUser, session };
}

const WANTED = STORED.map((row, at) => Object.assign({}, row, kept(row.endUser, at)));

async function expectRight(engine: Engine): Promise<void> {
  const newest = WANTED.toReversed();
  expect(await engine.list(ALL, 100, undefined)).toEqual(newest);
  for (const row of WANTED) expect(await engine.find(row.id)).toEqual(row);
  for (const { id, session } of CLAUDE_CODE_IDS) {
    expect(await engine.list({ ...ALL, names: { endUser: id.slice(0, 256) } }, 100, undefined)).toEqual([]);
    const having = newest.filter((row) => session !== "" && row.session === session);
    if (session !== "") expect(await engine.list({ ...ALL, id: session }, 100, undefined)).toEqual(having);
  }
  for (const dimensions of [["user"], ["account", "user"]] satisfies Dimension[][]) {
    const { tables } = await engine.usage([{ dimensions, filter: ALL }], []);
    expect(inspect(tables, { depth: null, maxArrayLength: null })).not.toMatch(/device_id|user_5f0c/);
  }
}

test("in lists, alone, by their filters, and in sums", async () => {
  await expectRight(await laterEngine());
});

test("where texts are read first, and after newer records came", async () => {
  const engine = await laterEngine();
  expect(await engine.find(idAt(1))).toEqual(WANTED[1]);
  await engine.append(batchOf([rowWith({ id: idAt(900), endTimeMs: TIME_MS + 900, account: "other" })]));
  expect(await engine.list({ ...ALL, names: { account: "acme" } }, 100, undefined)).toEqual(WANTED.toReversed());
});

test("and are stored so once their chunk is written anew", async () => {
  const engine = await laterEngine();
  await engine.joinLeft(Number.MAX_SAFE_INTEGER);
  await expectRight(engine);
  expect(await engine.erase(undefined, "ann")).toBe(1);
  expect(await engine.find(idAt(IDS.indexOf("ann")))).toMatchObject({ endUser: "", tags: "" });
});
