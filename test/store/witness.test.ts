/** What a witness finds: every transfer that was acknowledged, and, where it is kept elsewhere, the whole directory. */
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { holdsLedger } from "../../src/store/data-directory.js";
import { openSqliteFile } from "../../src/store/sqlite/database-file.js";
import { openSqliteStore } from "../../src/store/sqlite/store.js";
import { readWitness } from "../../src/store/witness.js";
import { creditOf } from "../ledger/operations.js";
import { openForTest } from "./directory.js";
import { temporaryDirectory } from "../support/temporary-directory.js";
import { TEST_ACT } from "../support/acts.js";

function elsewhere(): string {
  const parent = mkdtempSync(join(tmpdir(), "tollgate-witness-"));
  onTestFinished(() => rmSync(parent, { recursive: true, force: true }));
  return join(parent, "tollgate-witness.json");
}

test("a log that lacks no more than the last transfer that was acknowledged is found", async () => {
  const directory = temporaryDirectory();
  const store = await openForTest({ directory });
  await store.accounts.create({ id: "acme", name: "acme", createTimeMs: 0 }, TEST_ACT);
  await store.ledger.commit([creditOf(5n)]);
  // The copy is of the files alone: a program that dies leaves them so.
  const copy = temporaryDirectory();
  cpSync(directory, copy, { recursive: true });
  const [last] = await store.ledger.commit([creditOf(7n, { creditId: "c2" })]);
  cpSync(join(directory, "witness.json"), join(copy, "witness.json"));
  expect(last?.kind).toBe("credited");
  await expect(openSqliteStore({ directory: copy })).rejects.toThrow(/ends at transfer 1, but transfer 2 was written/);
});

test("a directory that is gone whole is found by a witness elsewhere, and accepted where that is said", async () => {
  const [directory, witnessPath] = [temporaryDirectory(), elsewhere()];
  const first = await openSqliteStore({ directory, witnessPath });
  await first.accounts.create({ id: "acme", name: "acme", createTimeMs: 0 }, TEST_ACT);
  await first.ledger.commit([creditOf(5n)]);
  await first.close();
  await (await openSqliteStore({ directory, witnessPath })).close();
  rmSync(directory, { recursive: true });
  expect(holdsLedger(directory, witnessPath)).toBe(true);
  const refused = /has lost state: the database is gone, and it had 1 transfers.*Restore tollgate.db/;
  for (const start of [directory, temporaryDirectory()])
    await expect(openSqliteStore({ directory: start, witnessPath })).rejects.toThrow(refused);
  const accepted = await openForTest({ directory, witnessPath, acceptLoss: true });
  expect((await accepted.ledger.verify()).problems).toEqual([]);
});

test.each([
  { name: "whose directory is not there", make: () => undefined, says: /mount or make its directory/ },
  { name: "that is a directory", make: (path: string) => mkdirSync(path, { recursive: true }), says: /is not a file/ },
])("a witness $name is refused in one line, and no database is made", async ({ make, says }) => {
  const [directory, witnessPath] = [temporaryDirectory(), join(dirname(elsewhere()), "none", "witness.json")];
  make(witnessPath);
  await expect(openSqliteStore({ directory, witnessPath })).rejects.toThrow(says);
  await expect(openSqliteStore({ directory, witnessPath })).rejects.toThrow(/^The witness '[^\n]+$/);
  expect(holdsLedger(directory, witnessPath)).toBe(says.source.includes("file"));
});

test("a witness that was inside is taken over to where TOLLGATE_WITNESS says, and is there alone", async () => {
  const [directory, witnessPath] = [temporaryDirectory(), elsewhere()];
  const inside = join(directory, "witness.json");
  const first = await openSqliteStore({ directory });
  await first.accounts.create({ id: "acme", name: "acme", createTimeMs: 0 }, TEST_ACT);
  await first.ledger.commit([creditOf(5n)]);
  await first.close();
  for (let start = 1; start <= 2; start += 1) {
    await (await openSqliteStore({ directory, witnessPath })).close();
    expect(readWitness(witnessPath)).toMatchObject({ head: { sequence: 1 } });
    expect(readWitness(inside)).toBeUndefined();
  }
  rmSync(witnessPath);
  await expect(openSqliteStore({ directory, witnessPath })).rejects.toThrow(/witness.json is gone/);
});

test("a first start that was killed before its witness was made is a first start again", async () => {
  const directory = temporaryDirectory();
  openSqliteFile(directory, undefined).close();
  expect(readWitness(join(directory, "witness.json"))).toBeUndefined();
  await (await openSqliteStore({ directory })).close();
});
