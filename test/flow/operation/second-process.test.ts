/** One process alone owns a data directory with an embedded database. */
import { rmSync } from "node:fs";
import { expect, test } from "vitest";
import { chat, postChat } from "../../support/chat-call.js";
import { tollgate } from "../../support/command.js";
import { startGateway } from "../../support/gateway-process.js";
import { Management } from "../../support/management.js";

const SETTINGS = `
upstreams:
  sim: { family: sim }
models:
  sim-1: { targets: [{ upstream: sim }], context_tokens: 100000, output_tokens_max: 1000, price: free }
`;

test("a second process on the same data refuses in one line, and the first goes on", async () => {
  const gateway = await startGateway({ settings: SETTINGS });
  const data = gateway.dataDirectory;
  try {
    const management = new Management(gateway);
    await management.account("acme", 1_000_000_000n);
    const env = { TOLLGATE_HTTP: "127.0.0.1:0", TOLLGATE_GRPC: "127.0.0.1:0", TOLLGATE_DATA: data };
    const second = await tollgate(["serve"], env);
    expect(second.code).toBe(1);
    expect(second.stderr).toMatch(/^tollgate: [^\n]+\n$/);
    expect(second.stderr).not.toMatch(/\bat .*:\d+:\d+/);
    const { secret } = await management.makeKey("acme");
    expect((await postChat(gateway, secret, chat("Hello", { model: "sim-1" }))).status).toBe(200);
    await management.verify();
  } finally {
    await gateway.stop();
    rmSync(data, { recursive: true });
  }
});
