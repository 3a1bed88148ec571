/** What a file leaves behind in its process is found, or the files that share one would change each other's outcome. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { afterEach, expect, test, vi } from "vitest";
import { changedSince, openInProcess, stateOfProcess } from "./support/process-state.js";

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
  vi.unstubAllEnvs();
});

const listener = (): undefined => undefined;
const CHANGES: readonly { readonly name: string; readonly make: () => void; readonly undo: () => void }[] = [
  { name: "a false clock", make: () => vi.useFakeTimers({ toFake: ["setInterval"] }), undo: () => vi.useRealTimers() },
  { name: "JSON.parse", make: () => vi.spyOn(JSON, "parse"), undo: () => vi.restoreAllMocks() },
  {
    name: "Buffer.prototype.includes",
    make: () => vi.spyOn(Buffer.prototype, "includes"),
    undo: () => vi.restoreAllMocks(),
  },
  {
    name: "globalThis.queueMicrotask",
    make: () => vi.stubGlobal("queueMicrotask", listener),
    undo: () => vi.unstubAllGlobals(),
  },
  { name: "env HOME_OF_A_TEST", make: () => vi.stubEnv("HOME_OF_A_TEST", "x"), undo: () => vi.unstubAllEnvs() },
  { name: "listeners of exit", make: () => process.on("exit", listener), undo: () => process.off("exit", listener) },
];

test.each(CHANGES)("'$name' is found until it is put back", ({ name, make, undo }) => {
  const before = stateOfProcess();
  expect(changedSince(before)).toEqual([]);
  make();
  expect(changedSince(before)).toContain(name);
  undo();
  expect(changedSince(before)).toEqual([]);
});

test("a server and a process are open until they are gone", async () => {
  const before = openInProcess();
  const server = createServer().listen(0, "127.0.0.1");
  const child = spawn(process.execPath, ["-e", "process.stdin.resume()"], { stdio: ["pipe", "ignore", "ignore"] });
  await once(server, "listening");
  expect(openInProcess().get("TCPServerWrap")).toBe((before.get("TCPServerWrap") ?? 0) + 1);
  expect(openInProcess().get("ProcessWrap")).toBe((before.get("ProcessWrap") ?? 0) + 1);
  server.close();
  child.stdin.end();
  await expect.poll(openInProcess).toEqual(before);
});
