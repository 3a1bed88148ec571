/** What every refusal over HTTP must look like, and what a refused request may leave behind: nothing. */
import { join } from "node:path";
import { expect } from "vitest";
import type { World } from "./world.js";
import { Sqlite } from "../../src/store/sqlite/binding.js";

/** All that a request may leave behind. */
export interface Trace {
  readonly transfers: unknown;
  readonly holds: unknown;
  readonly requests: unknown;
  readonly upstream: number;
}

/** Looked up in the database itself: a proof of the ledger for each would take longer than all else. */
export async function traceOf(world: World): Promise<Trace> {
  const { body } = await world.management.call("GET", "/requests");
  const database = new Sqlite(join(world.core.dataDirectory, "tollgate.db"), { readonly: true });
  try {
    return {
      transfers: database.prepare("SELECT count(*) FROM transfer").pluck().get(),
      holds: database.prepare("SELECT count(*) FROM open_hold").pluck().get(),
      requests: body["requests"],
      upstream: world.upstream.requests.length,
    };
  } finally {
    database.close();
  }
}

/** Fails the test where the text is no envelope of an error, or tells what is ours alone. Returns the error. */
export function expectEnvelope(text: string): Readonly<Record<string, unknown>> {
  const { error, ...others } = JSON.parse(text) as { error: Record<string, unknown> };
  expect(others).toEqual({});
  expect(Object.keys(error).sort()).toEqual(["code", "message", "param", "type"]);
  expect(error["message"]).toMatch(/^[^]{10,1000}$/);
  expect(text).not.toMatch(/\bat .*:\d+:\d+|node_modules|undefined/);
  return error;
}
