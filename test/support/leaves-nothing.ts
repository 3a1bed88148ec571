/**
 * Around each file whose worker goes on to others: what it changed of the process it puts back, and what it opened it
 * closes, or it fails. So no file's outcome depends on which ones ran before it.
 */
import { createRequire } from "node:module";
import { afterAll, expect, vi } from "vitest";
import { changedSince, openInProcess, stateOfProcess } from "./process-state.js";

// Each version of TypeScript's helpers names them on the global object as it loads, and libraries have two: before the
// look, both.
const load = createRequire(import.meta.url);
load("tslib");
createRequire(load.resolve("tsyringe"))("tslib");
const state = stateOfProcess();
const open = openInProcess();

afterAll(async () => {
  const changed = changedSince(state);
  vi.useRealTimers();
  // What stands for a member of a class of ours cannot be seen from here, so it is put back.
  vi.restoreAllMocks();
  expect(changed, "this file changed what others find: it puts it back, or vitest.config.ts keeps it apart").toEqual(
    [],
  );
  const left = (): string[] =>
    [...openInProcess()].flatMap(([kind, count]) => (count > (open.get(kind) ?? 0) ? kind : []));
  await vi.waitFor(() => expect(left(), "this file left these open").toEqual([]), { timeout: 60_000, interval: 20 });
});
