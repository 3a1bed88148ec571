/** How the console is served: a page for every path under it, assets that never change, and nothing from elsewhere. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startServer, type TestServer, until } from "../support/http-server.js";
import { RawClient } from "../support/raw-http.js";

const folder = mkdtempSync(join(tmpdir(), "tollgate-console-"));
const SCRIPT = "export const one = 1;";
let server: TestServer;

beforeAll(async () => {
  mkdirSync(join(folder, "built", "assets"), { recursive: true });
  writeFileSync(join(folder, "secret.txt"), "not for anybody");
  writeFileSync(join(folder, "built", "index.html"), '<meta nonce="TOLLGATE_NONCE"><script src="x"></script>');
  writeFileSync(join(folder, "built", "assets", "page-abc123.js"), SCRIPT);
  writeFileSync(join(folder, "built", "assets", "page-abc123.js.gz"), gzipSync(SCRIPT));
  server = await startServer({ consoleDirectory: join(folder, "built") });
});

afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true });
});

describe("the page", () => {
  test.each([
    "/console",
    "/console/",
    "/console/keys",
    "/console/requests/req_1?account=acme",
    "/console/nothing/here",
  ])("%s needs no key, is not kept, and runs and loads only what comes from here", async (path) => {
    const answer = await fetch(server.url + path);
    expect(answer.status).toBe(200);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      "content-type": "text/html; charset=utf-8",
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
      "x-frame-options": "DENY",
      "referrer-policy": "no-referrer",
    });
    const policy = answer.headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self' 'nonce-");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
  });

  test("has another nonce in each answer, the same as its policy", async () => {
    const nonces = await Promise.all(
      ["/console", "/console/keys"].map(async (path) => {
        const answer = await fetch(server.url + path);
        const [, nonce = ""] = /'nonce-([^']+)'/.exec(answer.headers.get("content-security-policy") ?? "") ?? [];
        expect(await answer.text()).toContain(`nonce="${nonce}"`);
        return nonce;
      }),
    );
    expect(new Set(nonces).size).toBe(2);
  });
});

describe("assets", () => {
  test.each([
    { name: "compressed for who takes that", encoding: "gzip, br", want: "gzip" },
    { name: "plain for who does not", encoding: "identity", want: undefined },
  ])("are kept for ever, $name", async ({ encoding, want }) => {
    const { head, body } = await get("/console/assets/page-abc123.js", encoding);
    expect(head).toContain("200 OK");
    expect(head).toContain("cache-control: public, max-age=31536000, immutable");
    expect(head).toContain("content-type: text/javascript");
    expect(head.includes("content-encoding: gzip")).toBe(want === "gzip");
    expect((want === "gzip" ? gunzipSync(body) : body).toString()).toBe(SCRIPT);
  });

  test.each([
    "/console/assets/gone-000000.js",
    "/console/assets/",
    "/console/assets/..",
    "/console/assets/../../secret.txt",
    "/console/assets/%2e%2e%2f%2e%2e%2fsecret.txt",
    "/console/assets/..%5c..%5csecret.txt",
    "/console/assets/a/b.js",
    "/console/assets/page-abc123.js%00",
    ...[200, 250, 254, 256, 300, 4_096, 6_000, 15_000].map((length) => `/console/assets/${"a".repeat(length)}`),
  ])("%.60s is none", async (path) => {
    const { head, body } = await get(path, "identity");
    expect(head).toMatch(/^HTTP\/1.1 (?:404|400|414|431) /);
    expect(body.toString()).not.toContain("not for anybody");
  });
});

test("until it is built, a page says so and loads again by itself", async () => {
  const other = await startServer({ consoleDirectory: join(folder, "not yet") });
  const answer = await fetch(`${other.url}/console`);
  expect(answer.status).toBe(503);
  expect(answer.headers.get("retry-after")).toBe("2");
  const text = await answer.text();
  expect(text).toContain('http-equiv="refresh"');
  expect(text).toContain("npm run build");
  await other.close();
});

test("where it is off, its address is unknown", async () => {
  const other = await startServer();
  const answer = await fetch(`${other.url}/console`);
  expect(answer.status).toBe(404);
  expect(answer.headers.get("x-tollgate-reason")).toBe("PATH_UNKNOWN");
  await other.close();
});

/** Asks for a path exactly as it is written, which fetch would tidy. */
async function get(path: string, encoding: string): Promise<{ readonly head: string; readonly body: Buffer }> {
  const client = await RawClient.open(server.port);
  client.write(`GET ${path} HTTP/1.1\r\nhost: a\r\naccept-encoding: ${encoding}\r\nconnection: close\r\n\r\n`);
  await until(() => client.closed, "the answer ends");
  const at = client.text.indexOf("\r\n\r\n");
  return { head: client.text.slice(0, at), body: Buffer.from(client.text.slice(at + 4), "latin1") };
}
