/** One run of a client's program: a process of its own, on the Node or the Python of its packages. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { PythonRange } from "../agents/python.mjs";
import { type Installation, install, installPython } from "../agents/installation.mjs";
import type { Client, Environment } from "./clients.js";
import { VECTORS } from "./world.js";

export const PROGRAM_MS_MAX = 100_000;
/** What a program may have said that is told of its failure. */
const TOLD_CHARACTERS_MAX = 2_000;
const PROGRAMS = new URL("./programs/", import.meta.url);

/** Which versions of Python the packages of a folder run on. */
const PYTHONS: Readonly<Record<Environment, PythonRange>> = {
  clients: { from: 11, below: 15 },
  older: { from: 11, below: 15 },
  aider: { from: 11, below: 13 },
};

const node = install("frameworks", new URL("./", import.meta.url));
const python = { clients: pythonOf("clients"), older: pythonOf("older"), aider: pythonOf("aider") };

function pythonOf(name: Environment): Installation {
  return installPython(`python-${name}`, new URL(`./python/${name}/`, import.meta.url), PYTHONS[name]);
}

/** Where a client's packages are, or why they are nowhere. */
export function installed({ program, environment = "clients" }: Client): { problem?: string; folder: string } {
  return { folder: "", ...(program.endsWith(".py") ? python[environment] : node) };
}

/** The same of the coding agents. */
export function agentPackages(): { problem?: string; folder: string } {
  return { folder: "", ...install("agents", new URL("../agents/", import.meta.url)) };
}

/** What a program is told of the gateway. */
export interface ProgramPlace {
  /** Without a path. */
  readonly url: string;
  readonly secret: string;
  readonly model: string;
}

export interface ProgramRun {
  readonly code: number | null;
  readonly printed: string;
  /** The end of what it wrote to its standard error. */
  readonly told: string;
}

export async function runProgram(client: Client, { url, secret, model }: ProgramPlace): Promise<ProgramRun> {
  const { folder } = installed(client);
  const isPython = client.program.endsWith(".py");
  const home = mkdtempSync(join(tmpdir(), "tollgate-program-"));
  const file = fileURLToPath(new URL(client.program, PROGRAMS));
  const [command, args] = isPython
    ? [join(folder, "bin/python"), [file]]
    : // Read from its input, it finds the packages of its working directory.
      [join(folder, `node_modules/node-${process.platform}-${process.arch}/bin/node`), ["--input-type=module", "-"]];
  writeFileSync(join(home, "extra-openai-models.yaml"), modelsOfLlm({ url, model }));
  const child = spawn(command, args, {
    cwd: isPython ? home : folder,
    env: {
      PATH: process.env["PATH"] ?? "",
      HOME: home,
      NO_COLOR: "1",
      PYTHONDONTWRITEBYTECODE: "1",
      GATEWAY_URL: url,
      GATEWAY_KEY: secret,
      OPENAI_BASE_URL: `${url}/v1`,
      OPENAI_API_KEY: secret,
      // Nothing of what they count or look up leaves the machine.
      LITELLM_LOCAL_MODEL_COST_MAP: "True",
      HAYSTACK_TELEMETRY_ENABLED: "False",
      LLM_USER_PATH: home,
      VECTORS,
      MODEL: model,
      CLASS: client.name,
      DOES: client.does.join(","),
    },
    stdio: ["pipe", "pipe", "pipe"],
    timeout: PROGRAM_MS_MAX,
  });
  child.stdin.end(isPython ? "" : readFileSync(file));
  const [printed, told]: [Buffer[], Buffer[]] = [[], []];
  child.stdout.on("data", (bytes: Buffer) => printed.push(bytes));
  child.stderr.on("data", (bytes: Buffer) => told.push(bytes));
  await once(child, "close");
  rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  return {
    code: child.exitCode,
    printed: Buffer.concat(printed).toString(),
    told: Buffer.concat(told).toString().slice(-TOLD_CHARACTERS_MAX),
  };
}

/** The file in which LLM is told of servers that speak as OpenAI does. */
function modelsOfLlm({ url, model }: Pick<ProgramPlace, "url" | "model">): string {
  return JSON.stringify([
    { model_id: model, model_name: model, api_base: `${url}/v1`, api_key_name: "openai", supports_tools: true },
  ]);
}
