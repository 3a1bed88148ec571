/** Records of an earlier program, which took Claude Code's session for a person, are shown as this one keeps them. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { SecretSeal } from "../../src/alerts/seal.js";
import { attributesOf, storedName } from "../../src/records/attributes.js";
import type { ChunkStore } from "../../src/records/chunk-store.js";
import type { RecordRow } from "../../src/records/columns.js";
import type { ContentStore } from "../../src/records/content-store.js";
import type { GatheredContent } from "../../src/records/content-tap.js";
import { ContentVault } from "../../src/records/content-vault.js";
import { Engine } from "../../src/records/engine.js";
import { erasePerson, personOf } from "../../src/records/erasure.js";
import type { RecordFilter } from "../../src/records/filter.js";
import { openPostgresRecords } from "../../src/records/postgres-chunks.js";
import { BatchBuilder } from "../../src/records/row-batch.js";
import { openSqliteChunks } from "../../src/records/sqlite-chunks.js";
import { openSqliteContents } from "../../src/records/sqlite-contents.js";
import type { Dimension } from "../../src/records/usage-codes.js";
import { openPostgresStore } from "../../src/store/postgres/store.js";
import { makeDatabase, postgresMissing } from "../support/postgres.js";
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

interface Stores {
  readonly chunks: ChunkStore;
  readonly contents: ContentStore;
}

/** Opens the same place again and again; who opens it closes it. */
type Place = () => Promise<Stores>;

async function directoryPlace(): Promise<Place> {
  const directory = await mkdtemp(join(tmpdir(), "tollgate-records-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return () => Promise.resolve({ chunks: openSqliteChunks(directory), contents: openSqliteContents(directory) });
}

async function databasePlace(): Promise<Place> {
  const url = await makeDatabase();
  await (await openPostgresStore({ url, nodeId: "n" })).close();
  return () => openPostgresRecords(url);
}

const PLACES = [
  { name: "SQLite", missing: undefined, placeOf: directoryPlace },
  { name: "PostgreSQL", missing: postgresMissing, placeOf: databasePlace },
];

interface Kept {
  readonly engine: Engine;
  readonly contents: ContentStore;
}

/** An engine that finds what another one stored, in one chunk. */
async function later(open: Place): Promise<Kept> {
  const before = await open();
  const earlier = new Engine(before.chunks);
  await earlier.append(batchOf(STORED));
  await before.contents.close();
  await earlier.close();
  const { chunks, contents } = await open();
  const engine = new Engine(chunks);
  onTestFinished(async () => {
    await contents.close();
    await engine.close();
  });
  return { engine, contents };
}

/** What this program keeps of the same request. */
function keptNow(id: string, at: number): Pick<RecordRow, "endUser" | "session"> {
  const metadata = at === 0 ? { "x-tollgate-conversation": "own" } : {};
  const { endUser, session } = attributesOf({ ...metadata, "x-tollgate-user": id }, undefined);
  return { endUser, session };
}

const WANTED = STORED.map((row, at) => Object.assign({}, row, keptNow(row.endUser, at)));

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

describe.each(PLACES)("on $name", ({ missing, placeOf }) => {
  const kept = test.skipIf(missing !== undefined);

  kept("in lists, alone, by their filters, and in sums", async () => {
    const { engine } = await later(await placeOf());
    await expectRight(engine);
  });

  kept("where texts are read first, and after newer records came", async () => {
    const { engine } = await later(await placeOf());
    expect(await engine.find(idAt(1))).toEqual(WANTED[1]);
    await engine.append(batchOf([rowWith({ id: idAt(900), endTimeMs: TIME_MS + 900, account: "other" })]));
    expect(await engine.list({ ...ALL, names: { account: "acme" } }, 100, undefined)).toEqual(WANTED.toReversed());
  });

  kept("and are stored so once their chunk is written anew", async () => {
    const { engine } = await later(await placeOf());
    await engine.joinLeft(Number.MAX_SAFE_INTEGER);
    await expectRight(engine);
    expect(await engine.erase(undefined, personOf("ann"))).toBe(1);
    expect(await engine.find(idAt(IDS.indexOf("ann")))).toMatchObject({ endUser: "", tags: "" });
  });

  kept("an erasure by such an id finds the records of its session, and all content", async () => {
    const { engine, contents } = await later(await placeOf());
    const vault = new ContentVault(contents, new SecretSeal({ keys: [Buffer.alloc(32, 1)] }));
    const [{ id, session }, { id: alike }] = CLAUDE_CODE_IDS;
    const newer = { ...rowWith({ id: idAt(900), endTimeMs: TIME_MS + 900 }), account: "acme", session, tags: "a=b" };
    await engine.append(batchOf([newer]));
    // As an earlier program kept it, by the id; and as this one does, by no name.
    await vault.keep([contentOf(idAt(0), id), contentOf(idAt(900), ""), contentOf(idAt(901), "ann")]);
    const having = WANTED.filter((row) => row.session === session).length + 1;
    expect(await erasePerson("other", id, engine, vault)).toEqual({ contentCount: 0, requestCount: 0 });
    expect(await erasePerson("acme", id, engine, vault)).toEqual({ contentCount: 2, requestCount: having });
    expect(await vault.find(idAt(901))).toBeDefined();
    expect(await engine.find(idAt(900))).toMatchObject({ session: "", tags: "", model: newer.model });
    expect(await engine.list({ ...ALL, id: session }, 100, undefined)).toEqual([]);
    expect(await erasePerson(undefined, alike, engine, vault)).toEqual({ contentCount: 0, requestCount: 0 });
    expect(await engine.find(idAt(IDS.indexOf("ann")))).toMatchObject({ endUser: "ann" });
    expect(await erasePerson(undefined, "ann", engine, vault)).toEqual({ contentCount: 1, requestCount: 1 });
  });

  kept("an erasure by a longer id, or one of several lines, finds what was kept of it", async () => {
    const { engine, contents } = await later(await placeOf());
    const vault = new ContentVault(contents, new SecretSeal({ keys: [Buffer.alloc(32, 1)] }));
    const long = `x${"y".repeat(300)}`;
    const rows = [long, "a\nb"].map((id, at) => {
      const more = { id: idAt(900 + at), endTimeMs: TIME_MS + 900 + at, account: "acme" };
      return rowWith(Object.assign(more, { endUser: storedName(id) }));
    });
    await engine.append(batchOf(rows));
    await vault.keep(rows.map((row) => contentOf(row.id, row.endUser)));
    for (const id of [long, "a\nb"])
      expect(await erasePerson(undefined, id, engine, vault)).toEqual({ contentCount: 1, requestCount: 1 });
  });
});

function contentOf(id: string, endUser: string): GatheredContent {
  const settings = { kept: true, redactions: [], bodyBytesMax: 0, totalBytesMax: 0n };
  const whole = { requestCut: false, answerCut: false, format: "anthropic" };
  const of = { id, accountId: "acme", endUser, endTimeMs: TIME_MS };
  return { ...of, ...whole, settings, request: Buffer.from("asked"), answer: "said" };
}
