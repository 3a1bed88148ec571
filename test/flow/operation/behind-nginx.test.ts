/** Behind a real nginx: an address rule sees the client where the proxy is trusted, else only the proxy. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { chat, readAll } from "../../support/chat-call.js";
import { freePort } from "../../support/free-port.mjs";
import { type GatewayProcess, startGateway } from "../../support/gateway-process.js";
import { Management } from "../../support/management.js";
import { startNginx } from "../../support/nginx-process.js";

const PATIENT = { timeout: 60_000, interval: 50 };
const isInstalled = spawnSync("nginx", ["-v"]).status === 0;
const note = isInstalled ? "" : " (not run: there is no nginx)";

describe.runIf(isInstalled).each([
  { name: "a trusted proxy", trusted: "127.0.0.1/32", allowed: 200 },
  { name: "a proxy that nobody trusts", trusted: undefined, allowed: 403 },
])(`behind $name${note}`, ({ trusted, allowed }) => {
  const directory = mkdtempSync(join(tmpdir(), "tollgate-nginx-"));
  let gateway: GatewayProcess;
  let nginx: ChildProcess;
  let base = "";
  let secret = "";

  beforeAll(async () => {
    gateway = await startGateway(trusted === undefined ? {} : { env: { TOLLGATE_TRUSTED_PROXIES: trusted } });
    const management = new Management(gateway);
    await management.account("acme", 0n);
    // The client of these tests, as nginx sees it: another address of the loopback network than the proxy's own.
    ({ secret } = await management.makeKey("acme", { addresses: ["127.0.0.9/32"] }));
    const port = await freePort();
    base = `http://127.0.0.1:${port}`;
    nginx = await startNginx(directory, port, gateway.url);
    await vi.waitFor(async () => expect((await get("/livez")).status).toBe(200), PATIENT);
  });
  afterAll(async () => {
    nginx.kill();
    await once(nginx, "exit");
    await gateway.stop();
    rmSync(directory, { recursive: true });
  });

  /** Asks through the proxy from an address; curl can choose one. */
  function get(
    path: string,
    from = "127.0.0.9",
    more: readonly string[] = [],
  ): Promise<{ status: number; text: string }> {
    const args = ["-s", "-w", "\n%{http_code}", "--interface", from, "-H", `authorization: Bearer ${secret}`, ...more];
    const child = spawn("curl", [...args, base + path], { stdio: ["ignore", "pipe", "inherit"] });
    const chunks: Buffer[] = [];
    child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
    return once(child, "close").then(() => {
      const lines = Buffer.concat(chunks).toString().split("\n");
      return { status: Number(lines.pop()), text: lines.join("\n") };
    });
  }

  test(`the address that the key allows gets ${allowed}`, async () => {
    expect((await get("/v1/models")).status).toBe(allowed);
  });

  test("another address gets 403, also where it says to be the allowed one", async () => {
    expect((await get("/v1/models", "127.0.0.8")).status).toBe(403);
    const forged = ["-H", "x-forwarded-for: 127.0.0.9"];
    expect((await get("/v1/models", "127.0.0.8", forged)).status).toBe(403);
  });

  test("a stream comes through whole, or its refusal", async () => {
    const body = JSON.stringify(chat("Say hello.", { model: "sim-1", stream: true }));
    const { status, text } = await get("/v1/chat/completions", "127.0.0.9", [
      "-N",
      "-H",
      "content-type: application/json",
      "-d",
      body,
    ]);
    expect(status).toBe(allowed);
    expect(text).toContain(allowed === 200 ? "data: [DONE]" : "address_not_allowed");
  });

  test("past the proxy nobody is believed about an address", async () => {
    const headers = { authorization: `Bearer ${secret}`, "x-forwarded-for": "127.0.0.9" };
    const direct = await fetch(`${gateway.url}/v1/models`, { headers });
    await readAll(direct);
    // The test itself is at the trusted address, as anybody on the proxy's machine is.
    expect(direct.status).toBe(allowed);
  });
});
