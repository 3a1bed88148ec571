/** The nginx that docs/operations.md shows, run as it stands there: TLS, HTTP, streams, WebSockets and gRPC. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { credentials, Metadata, status } from "@grpc/grpc-js";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { request as requestHttp, type IncomingMessage, type RequestOptions } from "node:http";
import { request as requestHttps } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { WebSocket } from "ws";
import { GatewayError } from "../../../src/base/errors.js";
import { anthropic } from "../../../src/formats/anthropic.js";
import { plainEnvelope } from "../../../src/formats/plain-envelope.js";
import { makeCertificate } from "../../support/certificate.js";
import { chat } from "../../support/chat-call.js";
import { type GatewayProcess, OPERATOR_KEY, startGateway } from "../../support/gateway-process.js";
import { AccountServiceClient } from "../../support/grpc-clients.js";
import { Management } from "../../support/management.js";
import { freePort } from "../../support/free-port.mjs";

const NAME = "llm.example.com";
const PATIENT = { timeout: 60_000, interval: 50 };
const isInstalled = spawnSync("nginx", ["-v"]).status === 0;

describe.runIf(isInstalled)(`behind the nginx of the page${isInstalled ? "" : " (not run: there is no nginx)"}`, () => {
  const directory = mkdtempSync(join(tmpdir(), "tollgate-nginx-page-"));
  const { key, cert } = makeCertificate(NAME);
  const ports = { plain: 0, secure: 0 };
  let gateway: GatewayProcess;
  let isThere = true;
  let nginx: ChildProcess;
  let secret = "";

  beforeAll(async () => {
    gateway = await startGateway({ env: { TOLLGATE_TRUSTED_PROXIES: "127.0.0.1/32" } });
    const management = new Management(gateway);
    await management.account("acme", 0n);
    ({ secret } = await management.makeKey("acme", { addresses: ["127.0.0.9/32"] }));
    ports.plain = await freePort();
    ports.secure = await freePort();
    writeFileSync(join(directory, "nginx.conf"), configuration());
    writeFileSync(join(directory, "fullchain.pem"), cert);
    writeFileSync(join(directory, "privkey.pem"), key);
    nginx = spawn("nginx", ["-p", directory, "-c", join(directory, "nginx.conf")], { stdio: "ignore" });
    await once(nginx, "spawn");
    await vi.waitFor(async () => expect((await ask("/livez")).statusCode).toBe(200), PATIENT);
  });
  afterAll(async () => {
    nginx.kill();
    await once(nginx, "exit");
    if (isThere) await gateway.stop();
    rmSync(directory, { recursive: true });
  });

  /** The page's file in a whole configuration, with the ports, addresses and files of this test. */
  function configuration(): string {
    const page = readFileSync("docs/operations.md", "utf8");
    const [, file = ""] = /```nginx\n(map [^]*?)```/.exec(page) ?? [];
    const changes = [
      ["listen 80;", `listen 127.0.0.1:${ports.plain};`],
      ["listen 443 ssl", `listen 127.0.0.1:${ports.secure} ssl`],
      ["/etc/letsencrypt/live/llm.example.com/fullchain.pem", `${directory}/fullchain.pem`],
      ["/etc/letsencrypt/live/llm.example.com/privkey.pem", `${directory}/privkey.pem`],
      ["http://127.0.0.1:8080", gateway.url],
      ["grpc://127.0.0.1:8081", `grpc://${gateway.grpc}`],
    ] as const;
    let text = file;
    for (const [from, to] of changes) {
      expect(text.split(from), from).toHaveLength(2);
      text = text.replace(from, to);
    }
    const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
    return `daemon off; pid ${directory}/pid; error_log ${directory}/error.log; worker_processes 1;
events { worker_connections 512; }
http {
access_log off;
${temporary.map((name) => `${name}_temp_path ${directory}/${name};`).join(" ")}
${text}
}
`;
  }

  /** Asks from the address that the key allows, by the name of the page. */
  async function ask(path: string, more: RequestOptions = {}, body = ""): Promise<IncomingMessage> {
    const headers = { host: NAME, authorization: `Bearer ${secret}`, ...more.headers };
    const from = { host: "127.0.0.1", port: ports.secure, path, localAddress: "127.0.0.9", agent: false };
    const asked = requestHttps({ ...from, servername: NAME, ca: cert, ...more, headers });
    const answered = once(asked, "response") as Promise<[IncomingMessage]>;
    asked.end(body);
    return (await answered)[0];
  }

  const textOf = async (response: IncomingMessage): Promise<string> => {
    let text = "";
    for await (const part of response.setEncoding("utf8")) text += String(part);
    return text;
  };

  test("who asks without TLS is sent to it", async () => {
    const asked = requestHttp({
      host: "127.0.0.1",
      port: ports.plain,
      path: "/v1/models?a=b",
      headers: { host: NAME },
    });
    const answered = once(asked, "response") as Promise<[IncomingMessage]>;
    asked.end();
    const [{ statusCode, headers }] = await answered;
    expect([statusCode, headers.location]).toEqual([301, `https://${NAME}/v1/models?a=b`]);
  });

  test("a key that is bound to an address is taken from it alone, and a stream comes whole", async () => {
    const body = JSON.stringify(chat("Say hello.", { model: "sim-1", stream: true }));
    const post = { method: "POST", headers: { "content-type": "application/json" } };
    const response = await ask("/v1/chat/completions", post, body);
    expect(response.statusCode).toBe(200);
    expect(await textOf(response)).toContain("data: [DONE]");
    expect((await ask("/v1/models", { localAddress: "127.0.0.8" })).statusCode).toBe(403);
  });

  test("a WebSocket is opened", async () => {
    const headers = { host: NAME, authorization: `Bearer ${secret}` };
    const options = { ca: cert, servername: NAME, headers, localAddress: "127.0.0.9" };
    const socket = new WebSocket(`wss://127.0.0.1:${ports.secure}/v1/responses`, options);
    await once(socket, "open");
    socket.close();
    await once(socket, "close");
  });

  test("a gRPC client is served at the same name and port", async () => {
    expect(await accountOverGrpc()).toBe("acme");
  });

  // It ends the gateway of the tests above.
  test("while the gateway is away clients get an error of its own form", async () => {
    await gateway.stop();
    isThere = false;
    const away = new GatewayError("ERROR_REASON_OVERLOADED", { problem: "no node answers" });
    const seen = async (path: string): Promise<unknown[]> => {
      const answer = await ask(path, { method: "POST" }, "{}");
      const { "retry-after": retryAfter, "content-type": type } = answer.headers;
      return [answer.statusCode, retryAfter, type, JSON.parse(await textOf(answer))];
    };
    const told = [503, "1", "application/json"];
    expect(await seen("/v1/chat/completions")).toEqual([...told, JSON.parse(plainEnvelope(away).body.toString())]);
    const { body } = anthropic.encodeError(away, "");
    expect(await seen("/v1/messages")).toEqual([...told, { ...JSON.parse(body.toString()), request_id: null }]);
    await expect(accountOverGrpc()).rejects.toMatchObject({ code: status.UNAVAILABLE, details: away.message });
  });

  async function accountOverGrpc(): Promise<string | undefined> {
    const options = { "grpc.ssl_target_name_override": NAME, "grpc.default_authority": NAME };
    const trusting = credentials.createSsl(Buffer.from(cert));
    const client = new AccountServiceClient(`127.0.0.1:${ports.secure}`, trusting, options);
    const metadata = new Metadata();
    metadata.set("authorization", `Bearer ${OPERATOR_KEY}`);
    try {
      return await new Promise((resolve, reject) => {
        client.getAccount({ id: "acme" }, metadata, (error, answer) =>
          error === null ? resolve(answer.account?.id) : reject(error),
        );
      });
    } finally {
      client.close();
    }
  }
});
