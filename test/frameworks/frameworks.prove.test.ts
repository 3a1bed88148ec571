/** Frameworks as people install them, unmodified, each in the way of its own pages, over upstreams of every wire. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { install } from "../agents/installation.mjs";
import { GREETING, REPORT } from "./saying.js";
import { type FrameworkWorld, MODELS, startFrameworkWorld, type UpstreamWire, VECTORS } from "./world.js";

/** All of them take minutes: a run of the tests takes one wire, and a command of its own the rest. */
const ALL = process.env["TOLLGATE_AGENTS"] === "all";
const PROGRAM_MS_MAX = 100_000;

const STRUCTURED = { city: "Oslo", degrees: 21 };
const WHOLE = { stream: GREETING, tools: REPORT, structured: STRUCTURED, vectors: 2 };

const FRAMEWORKS = [
  ...["ChatOpenAI", "ChatOpenAI, responses", "ChatAnthropic", "ChatGoogleGenerativeAI"].map((name) => ({
    program: "langchain",
    name,
  })),
  ...["openai", "anthropic", "google", "openai-compatible", "mistral"].map((name) => ({
    program: "ai",
    name: `@ai-sdk/${name}`,
  })),
  { program: "openai-agents", name: "@openai/agents" },
  { program: "instructor", name: "@instructor-ai/instructor" },
  { program: "llamaindex", name: "@llamaindex/openai" },
  ...["@genkit-ai/compat-oai", "@genkit-ai/google-genai"].map((name) => ({ program: "genkit", name })),
];

const installation = install("frameworks", new URL("./", import.meta.url));
const problem = "problem" in installation ? installation.problem : undefined;
const packages = "folder" in installation ? installation.folder : "";

let world: FrameworkWorld;
beforeAll(async () => {
  world = await startFrameworkWorld();
});
afterAll(() => world.close());

const WIRES = Object.keys(MODELS) as UpstreamWire[];

describe.each(FRAMEWORKS)("$program with $name", ({ program, name }) => {
  test.for(ALL ? WIRES : WIRES.slice(0, 1))(
    "over an upstream of %s",
    { timeout: PROGRAM_MS_MAX, retry: 1 },
    async (wire, { skip }) => {
      skip(problem !== undefined, problem);
      const { code, printed, told } = await run(program, { CLASS: name, MODEL: MODELS[wire] });
      expect({ code, told: code === 0 ? "" : told }).toEqual({ code: 0, told: "" });
      const wanted = program === "instructor" ? { structured: STRUCTURED, partial: STRUCTURED } : WHOLE;
      expect(JSON.parse(printed.trim().split("\n").at(-1) ?? "")).toEqual(wanted);
    },
  );
});

/** Runs a program of ours where the packages are, on the Node that they need. */
async function run(
  program: string,
  env: Readonly<Record<string, string>>,
): Promise<{ code: number | null; printed: string; told: string }> {
  const node = join(packages, `node_modules/node-${process.platform}-${process.arch}/bin/node`);
  const child = spawn(node, ["--input-type=module", "-"], {
    cwd: packages,
    env: {
      PATH: process.env["PATH"] ?? "",
      HOME: packages,
      NO_COLOR: "1",
      GATEWAY_URL: world.gateway.url,
      GATEWAY_KEY: world.secret,
      OPENAI_BASE_URL: `${world.gateway.url}/v1`,
      OPENAI_API_KEY: world.secret,
      VECTORS,
      ...env,
    },
    stdio: ["pipe", "pipe", "pipe"],
    timeout: PROGRAM_MS_MAX,
  });
  child.stdin.end(readFileSync(new URL(`./programs/${program}.mjs`, import.meta.url)));
  const [printed, told]: [Buffer[], Buffer[]] = [[], []];
  child.stdout.on("data", (bytes: Buffer) => printed.push(bytes));
  child.stderr.on("data", (bytes: Buffer) => told.push(bytes));
  await once(child, "close");
  return {
    code: child.exitCode,
    printed: Buffer.concat(printed).toString(),
    told: Buffer.concat(told).toString().slice(-2_000),
  };
}
