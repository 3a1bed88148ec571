/** The way to a real PostgreSQL: what it must be, what is bounded, and what happens where it is away. */
import pg from "pg";
import { describe, expect, test } from "vitest";
import { Postgres } from "../../src/store/postgres/connection.js";
import { sql } from "../../src/store/postgres/sql.js";
import { administer, makeDatabase, postgresMissing } from "../support/postgres.js";

describe.skipIf(postgresMissing)("PostgreSQL", () => {
  test("integers come as bigints to the last digit, bytes as bytes, texts as they were", async () => {
    const database = await Postgres.open(await makeDatabase());
    const values = [9_223_372_036_854_775_807n, Buffer.from([0, 255]), "naïve 'text' \\ \u{1f600}"];
    const rows = await database.rows(
      sql("SELECT $1::bigint AS a, $2::bytea AS b, $3::text AS c, count(*) AS d"),
      values,
    );
    expect(rows).toEqual([{ a: values[0], b: values[1], c: values[2], d: 1n }]);
    await database.close();
    expect(pg.types).toBeDefined();
  });

  test.each(["synchronous_commit"])("one with %s off is refused by name", async (name) => {
    const url = await makeDatabase();
    await administer(`ALTER DATABASE ${new URL(url).pathname.slice(1)} SET ${name} = off`);
    await expect(Postgres.open(url)).rejects.toThrow(`${name} is off`);
  });
});
