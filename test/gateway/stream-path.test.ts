/** The way of one stream event inside the process: what hands it on, from the upstream to the connection. */
import { mkdtempSync, rmSync } from "node:fs";
import { ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { chat, postChat } from "../support/chat-call.js";
import { type FakeUpstream, script, startFakeUpstream } from "../support/fake-upstream.js";
import { type FaultyCore, openFaultyCore } from "./faulty-core.js";

const SOURCES = fileURLToPath(new URL("../../src", import.meta.url));
const FRAMES_MAX = 60;
const WRITER = "http/stream-reply.ts";

let upstream: FakeUpstream;
let core: FaultyCore;
const directory = mkdtempSync(join(tmpdir(), "tollgate-path-"));
const framesBefore = Error.stackTraceLimit;
beforeAll(async () => {
  upstream = await startFakeUpstream();
  core = await openFaultyCore(upstream.url, directory);
  Error.stackTraceLimit = FRAMES_MAX;
});
afterAll(async () => {
  Error.stackTraceLimit = framesBefore;
  vi.restoreAllMocks();
  await core.close();
  await upstream.close();
  rmSync(directory, { recursive: true });
});

/** The files of the program on the stack, from the one that ran first. */
function filesOnStack(stack: string): string[] {
  const files: string[] = [];
  for (const [, path = ""] of stack.matchAll(/((?:file:\/\/)?\/[^\s()]+\.ts):\d+:\d+/g)) {
    const file = relative(SOURCES, path.startsWith("file:") ? fileURLToPath(path) : path);
    if (!file.startsWith("..") && files.at(-1) !== file) files.push(file);
  }
  return files.toReversed();
}

test("an event passes four sinks from its attempt to its connection", async () => {
  const stacks: string[] = [];
  const { write } = ServerResponse.prototype;
  vi.spyOn(ServerResponse.prototype, "write").mockImplementation(function noted(this: ServerResponse, ...args) {
    const { stack = "" } = new Error("who writes");
    if (stack.includes(WRITER)) stacks.push(stack);
    return Reflect.apply(write, this, args);
  });
  const asked = chat(script({ words: 6, eventDelayMs: 2 }), { stream: true });
  const response = await postChat({ url: core.httpUrl }, core.secret, asked);
  expect(await response.text()).toContain("[DONE]");
  expect(stacks.length).toBeGreaterThan(1);
  for (const stack of stacks) {
    const files = filesOnStack(stack);
    const way = files.slice(files.indexOf("routing/attempt.ts") + 1);
    expect(way).toEqual(["gateway/meter.ts", "rpc/call/head.ts", "http/generation.ts", WRITER]);
  }
});
