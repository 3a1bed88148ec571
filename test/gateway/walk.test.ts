/** The way of a request from its socket to the pipeline and back, as the stack says it while it is gone. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { Limits } from "../../src/limits/limits.js";
import { startFakeUpstream } from "../support/fake-upstream.js";
import { openFaultyCore } from "./faulty-core.js";

const FRAMES_MAX = 200;
/** The files of all functions on the stack, each called by the one before. */
const THERE = [
  "src/http/body-reader.ts",
  "src/http/server.ts",
  "src/http/generation.ts",
  // Which method is asked: a stream that is read on asks another.
  "src/http/generation.ts",
  "src/rpc/transport/in-process-channel.ts",
  "src/rpc/call/dispatcher.ts",
  "src/rpc/call/chain.ts",
  "src/gateway/inference.ts",
  "src/gateway/generate.ts",
];
const BACK = [
  "src/upstream/http.ts",
  "src/routing/attempt.ts",
  "src/gateway/meter.ts",
  "src/rpc/call/head.ts",
  "src/http/generation.ts",
  "src/http/stream-reply.ts",
];

/** The files of our own functions on a stack, of whoever called first at first: one for each function. */
function functionsOn(stack: string): string[] {
  return [...stack.matchAll(/\/(src\/[\w/-]+\.ts):\d+:\d+/g)].map(([, file = ""]) => file).toReversed();
}

/** A file once where its functions call each other. */
function filesOn(stack: string): string[] {
  const files = functionsOn(stack);
  return files.filter((file, index) => file !== files[index - 1]);
}

function stackNow(): string {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = FRAMES_MAX;
  const { stack = "" } = new Error("asked where it is");
  Error.stackTraceLimit = stackTraceLimit;
  return stack;
}

test("a request takes eight calls to the pipeline, and its answer four sinks back", async () => {
  const upstream = await startFakeUpstream();
  const directory = mkdtempSync(join(tmpdir(), "tollgate-walk-"));
  const core = await openFaultyCore(upstream.url, directory);
  onTestFinished(async () => {
    vi.restoreAllMocks();
    await core.close();
    await upstream.close();
    rmSync(directory, { recursive: true, force: true });
  });
  const there: string[][] = [];
  const back: string[][] = [];
  // Both do what they do otherwise; on their way they say who called.
  const { admit } = Limits.prototype;
  vi.spyOn(Limits.prototype, "admit").mockImplementation(function (this: Limits, caller, requestId) {
    there.push(functionsOn(stackNow()));
    return admit.call(this, caller, requestId);
  });
  const { write } = ServerResponse.prototype;
  vi.spyOn(ServerResponse.prototype, "write").mockImplementation(function (this: ServerResponse, ...args: unknown[]) {
    back.push(filesOn(stackNow()));
    return Boolean(Reflect.apply(write, this, args));
  });
  const response = await fetch(`${core.httpUrl}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${core.secret}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "fake-1", stream: true, messages: [{ role: "user", content: "Hi" }] }),
  });
  expect(await response.text()).toContain("[DONE]");
  expect(there).toEqual([THERE]);
  // The upstream of the test writes by the same method; what it writes is none of the program's.
  const ours = back.filter((files) => files.length > 0);
  expect(ours.length).toBeGreaterThan(0);
  expect(ours[0]).toEqual(BACK);
  expect(THERE.length - 1).toBeLessThanOrEqual(8);
  // The attempt pushes into the first of them.
  expect(BACK.slice(2).length).toBeLessThanOrEqual(4);
});

test("the architecture names the same files in the same order", () => {
  const page = readFileSync("docs/architecture.md", "utf8");
  for (const way of [THERE, BACK.slice(1)]) {
    const places = way.map((file) => page.indexOf(`\`${file}\``, page.indexOf("## One request")));
    expect(
      places.every((place) => place > 0),
      String(way.filter((_, index) => (places[index] ?? 0) <= 0)),
    ).toBe(true);
  }
});
