/** A gateway that speaks TLS, asks gRPC clients for certificates, takes renewed ones, and says before it stops. */
import { X509Certificate } from "node:crypto";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeCertificate } from "../../support/certificate.js";
import { tollgate } from "../../support/command.js";
import { type GatewayProcess, OPERATOR_KEY, startGateway } from "../../support/gateway-process.js";

const PATIENT = { timeout: 60_000, interval: 50 };
const directory = mkdtempSync(join(tmpdir(), "tollgate-tls-"));
const path = (name: string): string => join(directory, name);
let gateway: GatewayProcess;
let port = 0;

beforeAll(async () => {
  writePair("server", makeCertificate("localhost"));
  writePair("client", makeCertificate("a client"));
  const env = {
    TOLLGATE_TLS_CERT: path("server.cert"),
    TOLLGATE_TLS_KEY: path("server.key"),
    TOLLGATE_TLS_CLIENT_CA: path("client.cert"),
    TOLLGATE_LAME_DUCK_MS: "60000",
  };
  gateway = await startGateway({ env });
  port = Number(gateway.url.split(":").at(-1));
});
afterAll(() => gateway.kill());

function writePair(name: string, pair: { readonly key: string; readonly cert: string }): string {
  writeFileSync(path(`${name}.key`), pair.key);
  writeFileSync(path(`${name}.cert`), pair.cert);
  return pair.cert;
}

/** The status of a GET, trusting one certificate. */
function get(target: string, ca: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const asked = request({ host: "localhost", port, path: target, ca, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    asked.on("error", reject).end();
  });
}

const grpcPort = (): number => Number(gateway.grpc.split(":").at(-1));

/** The fingerprint of the certificate that a port shows. */
function fingerprint(of = port): Promise<string> {
  return new Promise((resolve, reject) => {
    const shown = { key: readFileSync(path("client.key")), cert: readFileSync(path("client.cert")) };
    const options = { ...shown, ALPNProtocols: of === port ? ["http/1.1"] : ["h2"], rejectUnauthorized: false };
    const socket = connect({ host: "localhost", port: of, ...options }, () => {
      resolve(socket.getPeerCertificate().fingerprint256);
      socket.destroy();
    });
    socket.on("error", reject);
  });
}

// Steps in the life of one gateway, which the last one ends.
describe("one gateway", { shuffle: false }, () => {
  test("commands speak TLS, and one that shows no certificate is not let in", async () => {
    const args = [
      "account",
      "create",
      "acme",
      "--gateway",
      `grpcs://${gateway.grpc.replace("127.0.0.1", "localhost")}`,
    ];
    const env = { TOLLGATE_OPERATOR_KEY: OPERATOR_KEY, TOLLGATE_GATEWAY_CA: path("server.cert") };
    const without = await tollgate(args, env);
    expect(without.code).not.toBe(0);
    const shown = { TOLLGATE_GATEWAY_CERT: path("client.cert"), TOLLGATE_GATEWAY_KEY: path("client.key") };
    expect(await tollgate(args, { ...env, ...shown })).toMatchObject({ code: 0, stderr: "" });
  });

  test("a renewed certificate is shown on both ports without a restart, and half of one is not taken", async () => {
    const before = await fingerprint();
    expect(await fingerprint(grpcPort())).toBe(before);
    const renewed = makeCertificate("localhost");
    writeFileSync(path("server.cert"), renewed.cert);
    await expect.poll(() => gateway.log.some((line) => line.includes("certificate is refused")), PATIENT).toBe(true);
    expect([await fingerprint(), await fingerprint(grpcPort())]).toEqual([before, before]);
    writePair("server", renewed);
    await expect.poll(() => fingerprint(), PATIENT).not.toBe(before);
    const { fingerprint256 } = new X509Certificate(renewed.cert);
    await expect.poll(() => fingerprint(grpcPort()), PATIENT).toBe(fingerprint256);
    expect(await get("/livez", renewed.cert)).toBe(200);
  });

  /** What a client shows. */
  interface Shown {
    readonly key: string;
    readonly cert: string;
    /** What it was given before, to go on with. */
    readonly session?: Buffer | undefined;
    readonly version: "TLSv1.2" | "TLSv1.3";
  }

  interface Served {
    readonly session: Buffer;
    readonly isReused: boolean;
  }

  /** The session of a client that the gRPC port serves; undefined where the port does not let it in. */
  function served({ version, ...shown }: Shown): Promise<Served | undefined> {
    const versions = { minVersion: version, maxVersion: version } as const;
    const options = { ...shown, ...versions, ALPNProtocols: ["h2"], rejectUnauthorized: false };
    return new Promise((resolve) => {
      const socket = connect({ host: "localhost", port: grpcPort(), ...options });
      let session: Buffer | undefined;
      let isServed = false;
      const look = (): void => {
        if (!isServed || session === undefined) return;
        resolve({ session, isReused: socket.isSessionReused() });
        socket.destroy();
      };
      socket.on("session", (told) => ((session = told), look()));
      // HTTP/2 begins with what the server takes, which nobody is told who is not let in.
      socket.on("data", () => {
        isServed = true;
        // Who goes on with a session is not always told of another.
        if (socket.isSessionReused()) session ??= socket.getSession();
        look();
      });
      socket.on("error", () => resolve(undefined)).on("close", () => resolve(undefined));
      socket.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\u0004\0\0\0\0\0");
    });
  }

  test("other authorities of clients are taken without a restart, and an older certificate is refused", async () => {
    const old = { key: readFileSync(path("client.key"), "utf8"), cert: readFileSync(path("client.cert"), "utf8") };
    const versions = ["TLSv1.2", "TLSv1.3"] as const;
    const given = await Promise.all(versions.map((version) => served({ ...old, version })));
    const sessions = given.map((one) => one?.session);
    for (const [place, version] of versions.entries())
      expect(await served({ ...old, version, session: sessions[place] })).toMatchObject({ isReused: true });
    const renewed = makeCertificate("a client");
    expect(await served({ ...renewed, version: "TLSv1.3" })).toBeUndefined();
    writePair("client", renewed);
    await expect.poll(() => served({ ...renewed, version: "TLSv1.3" }), PATIENT).toBeDefined();
    for (const [place, version] of versions.entries()) {
      expect(await served({ ...old, version })).toBeUndefined();
      // Nor does a session help that it was given before.
      expect(await served({ ...old, version, session: sessions[place] })).toBeUndefined();
    }
  });

  test("told to stop it says that it is not ready, goes on serving, and stops at once when told again", async () => {
    const renewed = makeCertificate("localhost");
    const before = await fingerprint();
    writePair("server", renewed);
    await expect.poll(() => fingerprint(), PATIENT).not.toBe(before);
    process.kill(gateway.pid, "SIGTERM");
    await expect.poll(() => get("/readyz", renewed.cert), PATIENT).toBe(503);
    expect((await fetch(`http://${gateway.admin}/readyz`)).status).toBe(503);
    expect(await get("/livez", renewed.cert)).toBe(200);
    expect(await gateway.stop()).toBe(0);
  });
});

test("a core asks its front ends for certificates, renewed ones too, and they are not ready without it", async () => {
  writePair("core", makeCertificate("localhost"));
  writePair("front", makeCertificate("a front end"));
  const secret = "a secret of this test that is long enough";
  const core = {
    TOLLGATE_TLS_CERT: path("core.cert"),
    TOLLGATE_TLS_KEY: path("core.key"),
    TOLLGATE_TLS_CLIENT_CA: path("front.cert"),
    TOLLGATE_SECRET: secret,
  };
  let running = await startGateway({ env: core });
  const address = running.grpc.replace("127.0.0.1", "localhost");
  const plain = { TOLLGATE_CORE: `grpcs://${address}`, TOLLGATE_CORE_CA: path("core.cert"), TOLLGATE_SECRET: secret };
  const shown = { TOLLGATE_CORE_CERT: path("front.cert"), TOLLGATE_CORE_KEY: path("front.key") };
  const front = await startGateway({ env: { ...plain, ...shown } });
  const without = await startGateway({ env: plain });
  const ready = async ({ url }: GatewayProcess): Promise<number> => (await fetch(`${url}/readyz`)).status;
  await expect.poll(() => ready(front), PATIENT).toBe(200);
  const models = () => fetch(`${front.url}/v1/models`, { headers: { authorization: `Bearer ${OPERATOR_KEY}` } });
  expect((await models()).status).toBe(200);
  expect(await ready(without)).toBe(503);

  writePair("front", makeCertificate("a front end"));
  await expect.poll(() => front.log.some((line) => line.includes("for the core was reloaded")), PATIENT).toBe(true);
  await running.kill();
  const { dataDirectory } = running;
  running = await startGateway({ dataDirectory, env: { ...core, TOLLGATE_GRPC: running.grpc } });
  await expect.poll(() => ready(front), PATIENT).toBe(200);
  expect((await models()).status).toBe(200);
  expect(await ready(without)).toBe(503);

  // Clients of a front end whose core is gone are told when to come again.
  await running.stop();
  await expect.poll(() => ready(front), PATIENT).toBe(503);
  const refused = await models();
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"]);
  await Promise.all([front.stop(), without.stop()]);
});
