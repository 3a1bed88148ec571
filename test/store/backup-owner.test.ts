/** What a command of root leaves in a data directory is its owner's, whose gateway serves from it. */
import { chownSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { commandAct } from "../../src/audit/act.js";
import { backUp, restore } from "../../src/store/sqlite/backup.js";
import { openSqliteStore } from "../../src/store/sqlite/store.js";

const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;

test.skipIf(!isRoot)(
  `a backup and a restore by root leave the files to their owner ${isRoot ? "" : "no root"}`,
  async () => {
    const base = mkdtempSync(join(tmpdir(), "tollgate-owner-"));
    onTestFinished(() => rmSync(base, { recursive: true, force: true }));
    const act = commandAct("store.backup", "root", 0);
    const from = join(base, "from");
    await (await openSqliteStore({ directory: from })).close();
    const file = join(base, "backup.db");
    expect(backUp(from, file, act).holds).toBe(true);
    const [data, witness] = ["data", "witness"].map((name) => mkdtempSync(join(base, `${name}-`)));
    for (const directory of [data, witness]) chownSync(directory ?? "", NOBODY, NOBODY);
    expect(restore(file, data ?? "", join(witness ?? "", "witness.json"), act).holds).toBe(true);
    expect(readdirSync(data ?? "")).toContain("tollgate.db");
    expect(readdirSync(witness ?? "")).toEqual(["witness.json"]);
    for (const directory of [data ?? "", witness ?? ""])
      for (const name of readdirSync(directory)) {
        const { uid, gid } = statSync(join(directory, name));
        expect([name, uid, gid]).toEqual([name, NOBODY, NOBODY]);
      }
  },
);
