/** One process alone owns a data directory with an embedded database. */
import { rmSync } from "node:fs";
import { expect, test } from "vitest";
import { chat, postChat } from "../support/chat-call.js";
import { tollgate } from "../support/command.js";
import { startWorld } from "../support/world.js";

test("a second process on the same data refuses in one line, and the first goes on", async () => {
  const world = await startWorld();
  const data = world.core.dataDirectory;
  try {
    const env = { TOLLGATE_HTTP: "127.0.0.1:0", TOLLGATE_GRPC: "127.0.0.1:0", TOLLGATE_DATA: data };
    const second = await tollgate(["serve"], env);
    expect(second.code).toBe(1);
    expect(second.stderr).toMatch(/^tollgate: [^\n]+\n$/);
    expect(second.stderr).not.toMatch(/\bat .*:\d+:\d+/);
    expect((await postChat(world.core, world.secret, chat("Hello"))).status).toBe(200);
    await world.management.verify();
  } finally {
    await world.close();
    rmSync(data, { recursive: true });
  }
});
