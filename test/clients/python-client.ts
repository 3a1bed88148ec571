/** Runs the Python client: makes its stubs from proto/ with Debian's protobuf compiler, and reads what it prints. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { z } from "zod";

const PROTO = fileURLToPath(new URL("../../proto", import.meta.url));
const CLIENT = fileURLToPath(new URL("python_client.py", import.meta.url));
const TOOLS = { python: "/usr/bin/python3", protoc: "/usr/bin/protoc", plugin: "/usr/bin/grpc_python_plugin" };
/** Debian's packages that hold them, with the libraries that the stubs need. */
const PACKAGES = "protobuf-compiler libprotobuf-dev protobuf-compiler-grpc python3-grpcio python3-protobuf";
const RUN_MS_MAX = 60_000;

const run = promisify(execFile);

const REPORT = z.object({
  whole: z.object({ text: z.string(), cost_nanos: z.string(), request_id: z.string() }),
  streamed: z.object({ text: z.string(), last: z.string(), batches: z.number(), request_id: z.string() }),
  refusal: z
    .object({ code: z.string(), reason: z.string(), domain: z.string(), message: z.string(), request_id: z.string() })
    .nullable(),
});
/** What the client saw of a whole call, a streamed call, and a call of a model that does not exist. */
export type PythonReport = z.infer<typeof REPORT>;

/** Makes the stubs as any stranger would, with `-I proto` alone, and returns their directory. */
export async function makePythonStubs(): Promise<string> {
  for (const tool of Object.values(TOOLS)) {
    if (!existsSync(tool)) throw new Error(`${tool} is missing: apt-get install ${PACKAGES}`);
  }
  const directory = await mkdtemp(join(tmpdir(), "tollgate-python-"));
  const all = (await readdir(PROTO, { recursive: true })).filter((name) => name.endsWith(".proto"));
  const files = all.filter((name) => !name.startsWith("tollgate/internal/"));
  const out = [`--python_out=${directory}`, `--grpc_python_out=${directory}`];
  const args = ["-I", PROTO, ...out, `--plugin=protoc-gen-grpc_python=${TOOLS.plugin}`, ...files];
  await run(TOOLS.protoc, args, { timeout: RUN_MS_MAX });
  return directory;
}

/** Calls a gateway at `host:port` with the stubs. Rejects with what the client printed where it failed. */
export async function runPythonClient(
  stubs: string,
  gateway: { readonly address: string; readonly key: string; readonly model: string },
): Promise<PythonReport> {
  const args = [CLIENT, stubs, gateway.address, gateway.key, gateway.model];
  const { stdout } = await run(TOOLS.python, args, { timeout: RUN_MS_MAX });
  return REPORT.parse(JSON.parse(stdout));
}
