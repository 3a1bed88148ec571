/** What every refusal over HTTP must look like, and what a refused request may leave behind: a record without money. */
import { expect } from "vitest";
import { askDatabase } from "./database-behind.js";
import type { World } from "./world.js";

/** All that a request may leave behind, but for the record of a refusal. */
export interface Trace {
  readonly transfers: unknown;
  readonly holds: unknown;
  /** What keys and accounts spent of their budgets. */
  readonly budgets: unknown;
  /** The ledger's sums. */
  readonly usage: unknown;
  /** Those that anything was set aside or charged for, or that were tried anywhere. */
  readonly requests: unknown;
  readonly upstream: number;
}

type Json = Readonly<Record<string, unknown>>;
/** More than any file of tests refuses, so that no refusal pushes an earlier request off the page. */
const PAGE = 1_000;

/** Looked up in the database itself: a proof of the ledger for each would take longer than all else. */
export async function traceOf(world: World): Promise<Trace> {
  const { body } = await world.management.call("GET", `/requests?page_size=${PAGE}`);
  const requests = body["requests"] as Json[];
  expect(requests.length).toBeLessThan(PAGE);
  const ask = (sql: string): Promise<readonly object[]> => askDatabase(world.core.dataDirectory, sql);
  return {
    transfers: await ask("SELECT count(*) FROM transfer"),
    holds: await ask("SELECT count(*) FROM open_hold"),
    budgets: await ask("SELECT * FROM budget"),
    usage: await ask("SELECT * FROM usage_day"),
    requests: requests.filter((request) => !isMereRefusal(request)),
    upstream: world.upstream.requests.length,
  };
}

/** True where all that there is of a request is that it was refused: each amount and each count of it is nought. */
function isMereRefusal(request: Json): boolean {
  const { detail, usage, price, served, attempts, attempt_log: tried } = request;
  const amounts = Object.entries(request).filter(([name]) => name.endsWith("_nanos"));
  const { meters, ...tokens } = usage as Json;
  const counts = [...amounts.map(([, nanos]) => nanos), ...Object.values(tokens)];
  const isNothing =
    (meters as unknown[]).length === 0 && counts.length > 5 && counts.every((count) => count === "0") && attempts === 0;
  const isUnserved = price === undefined && served === undefined && (tried as unknown[]).length === 0;
  const isRefused = request["state"] === "uncharged" && (detail as Json)["error_reason"] !== undefined;
  return isRefused && isNothing && isUnserved;
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
