/** A build after this one, which brings the database on. */
import { MIGRATIONS } from "../../src/store/postgres/schema.js";
import { otherBuild, type OtherBuild, type SchemaStep } from "./other-build.js";

/** The schema that this build brings a database to. */
const SCHEMA_VERSION = MIGRATIONS.at(-1)?.version ?? 0;

/** What a newer build brings the database on by; the older one need not know of it. */
export const LATER_STEP: SchemaStep = {
  version: SCHEMA_VERSION + 1,
  sql: "CREATE TABLE later_thing (id bigint PRIMARY KEY);",
  serves: { version: SCHEMA_VERSION, program: "0.1.0" },
};

/**
 * The build that nodes go to: the one that TOLLGATE_CLUSTER_OTHER names. Without it this one as a newer program, so
 * that two are told apart, and the database is brought on by one of them.
 */
export function newerBuild(): OtherBuild {
  const directory = process.env["TOLLGATE_CLUSTER_OTHER"];
  return directory === undefined ? otherBuild("99.0.0", [LATER_STEP]) : { directory, remove: () => undefined };
}
