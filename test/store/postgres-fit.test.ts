/** A PostgreSQL whose tables were changed refuses the start by the name of what is not there. */
import { expect, test } from "vitest";
import { UnusableData } from "../../src/base/unusable-data.js";
import { columnsOf } from "../../src/store/postgres/fit.js";
import { MIGRATIONS } from "../../src/store/postgres/schema.js";
import { openPostgresStore } from "../../src/store/postgres/store.js";
import { administer, makeDatabase, postgresMissing } from "../support/postgres.js";
import { bySweep } from "../support/sweep.js";

const EXPECTED = columnsOf(MIGRATIONS.map(({ sql }) => sql).join("\n"));

async function open(url: string): Promise<void> {
  const store = await openPostgresStore({ url, nodeId: "node_1" });
  await store.close();
}

test.skipIf(postgresMissing !== undefined)(
  `the columns that the steps name are those that they make, and each that is renamed refuses the start ${postgresMissing ?? ""}`,
  async () => {
    const url = await makeDatabase();
    await open(url);
    const made = await administer(
      `SELECT table_name || '.' || column_name AS name FROM information_schema.columns
       JOIN information_schema.tables USING (table_schema, table_name)
       WHERE table_schema = current_schema() AND table_type = 'BASE TABLE' AND table_name <> 'tollgate_schema'`,
      url,
    );
    const names = made.map(({ name }) => String(name)).toSorted();
    expect(EXPECTED.map(({ table, column }) => `${table}.${column}`).toSorted()).toEqual(names);
    const tables = [...new Set(EXPECTED.map(({ table }) => table))];
    for (const table of tables.slice(0, bySweep({ short: 3, long: 1_000, all: 1_000 }))) {
      const column = EXPECTED.findLast((one) => one.table === table)?.column ?? "";
      await administer(`ALTER TABLE "${table}" RENAME COLUMN "${column}" TO renamed`, url);
      const refused = await open(url).catch((error: unknown) => error);
      expect(refused).toBeInstanceOf(UnusableData);
      expect(String(refused)).toContain(`its table '${table}' has no column '${column}'`);
      await administer(`ALTER TABLE "${table}" RENAME COLUMN renamed TO "${column}"`, url);
      await administer(`ALTER TABLE "${table}" RENAME TO renamed`, url);
      await expect(open(url)).rejects.toThrow(`it has no table '${table}'`);
      await administer(`ALTER TABLE renamed RENAME TO "${table}"`, url);
    }
    await open(url);
  },
);
