/** grpcurl, which knows nothing of the protocol, learns it by reflection at the address of the services, and calls. */
import { spawnSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { PUBLIC_SERVICES } from "../../src/api/service-list.js";
import { type GatewayProcess, OPERATOR_KEY, startGateway } from "../support/gateway-process.js";

const MODULE = "github.com/fullstorydev/grpcurl/cmd/grpcurl@v1.9.3";
vi.setConfig({ testTimeout: 60_000, hookTimeout: 600_000 });

let gateway: GatewayProcess;
let folder = "";
let missing = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tollgate-grpcurl-"));
  gateway = await startGateway({ env: { TOLLGATE_GRPC_REFLECTION: "on" } });
  // Modules are kept without the right to write, unless told so.
  const env = { ...process.env, GOBIN: folder, GOPATH: join(folder, "go"), GOFLAGS: "-modcacherw" };
  const made = spawnSync("go", ["install", MODULE], { env, encoding: "utf8" });
  if (made.status !== 0) missing = `grpcurl cannot be built here: ${made.error?.message ?? made.stderr.slice(-200)}`;
});
afterAll(async () => {
  await gateway.stop();
  await rm(folder, { recursive: true, force: true });
});

function grpcurl(key: string | undefined, ...args: readonly string[]): { stdout: string; stderr: string } {
  const header = key === undefined ? [] : ["-H", `authorization: Bearer ${key}`];
  return spawnSync(join(folder, "grpcurl"), ["-plaintext", ...header, gateway.grpc, ...args], { encoding: "utf8" });
}

test("with a key it lists the public services, and calls one", ({ skip }) => {
  skip(missing !== "", missing);
  const { stdout } = grpcurl(OPERATOR_KEY, "list");
  const reflection = ["grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection"];
  expect(stdout.trim().split("\n")).toEqual([...Object.keys(PUBLIC_SERVICES), ...reflection].toSorted());
  expect(JSON.parse(grpcurl(OPERATOR_KEY, "tollgate.v1.KeyService/GetCaller").stdout)).toHaveProperty("key");
});

test("without one it learns nothing", ({ skip }) => {
  skip(missing !== "", missing);
  expect(grpcurl(undefined, "list")).toMatchObject({ stdout: "", stderr: expect.stringContaining("Unauthenticated") });
});
