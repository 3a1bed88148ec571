/** The package, as `npm pack` makes it: installed from its tarball in an empty folder, it runs by one command. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, expect, test, vi } from "vitest";

// npm fetches what no cache holds.
vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 });

/** What a person's own environment tells npm of the way to its registry, and nothing of ours. */
const PASSED_ON = Object.fromEntries(
  Object.entries(process.env).filter(([name]) =>
    /^(PATH|HOME|NODE_EXTRA_CA_CERTS|SSL_CERT_(FILE|DIR)|(HTTPS?|NO)_PROXY|npm_config_(registry|cafile))$/i.test(name),
  ),
);

const folder = mkdtempSync(join(tmpdir(), "tollgate-package-"));
const children: ChildProcess[] = [];
let files: readonly string[] = [];
let installed = "";
let tarballPath = "";

beforeAll(() => {
  // The tests' own build is what would be built for it.
  const packed: unknown = JSON.parse(
    npm(process.cwd(), "pack", "--json", "--ignore-scripts", "--pack-destination", folder),
  );
  const [first] = Array.isArray(packed) ? packed : Object.values(packed as object);
  const tarball = first as { readonly filename: string; readonly files: readonly { readonly path: string }[] };
  files = tarball.files.map(({ path }) => path);
  tarballPath = join(folder, tarball.filename);
  const home = join(folder, "home");
  mkdirSync(home);
  installed = npm(home, "install", "--no-audit", "--no-fund", "--prefer-offline", tarballPath);
});

afterAll(async () => {
  for (const child of children) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    const ended = once(child, "close");
    // npx runs the command beside itself, so both are of one group.
    process.kill(-(child.pid ?? 0), "SIGTERM");
    await ended;
  }
  rmSync(folder, { recursive: true, force: true });
});

test("the package holds the built program and its protocol, and nothing of the tests or the sources", () => {
  expect(installed).toContain("added");
  for (const path of ["dist/program/main.js", "gen/tollgate.binpb", "package.json", "README.md"])
    expect(files).toContain(path);
  expect(files.filter((path) => /^(src|test|\.ci|data)\/|\.(ts|map|tsbuildinfo)$/.test(path))).toEqual([]);
});

test("the package has the public protocol, and not what front ends and cores say to each other", () => {
  expect(files).toContain("proto/tollgate/v1/inference_service.proto");
  expect(files.filter((path) => path.includes("tollgate/internal") && path.endsWith(".proto"))).toEqual([]);
});

test("the package is built before it is packed, may be published, and builds nothing where it is installed", () => {
  const manifest = JSON.parse(readFileSync("package.json", "utf8"));
  expect(manifest.private).toBeUndefined();
  expect(manifest.scripts.prepack).toBe("npm run build");
  expect(Object.keys(manifest.scripts)).not.toContain("install");
  expect(Object.keys(manifest.scripts)).not.toContain("postinstall");
});

test("npx with an empty cache answers a streamed request in an empty folder", async () => {
  const empty = join(folder, "empty");
  mkdirSync(empty);
  const npx = ["--yes", "--cache", join(folder, "cache"), "--package", tarballPath, "tollgate"];
  const told = await start("demo", { cwd: empty, npx }, "serve", "--demo");
  const [, base = ""] = /Tollgate serves (\S+)/.exec(told) ?? [];
  const [, key = ""] = /client key\s+(\S+)/.exec(told) ?? [];
  const answer = await fetch(`${base}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "sim-1", stream: true, messages: [{ role: "user", content: "Say hello." }] }),
  });
  expect(answer.status).toBe(200);
  expect(await answer.text()).toMatch(/^data: \{[^]*data: \[DONE\]\n\n$/);
});

test("npx tollgate without a command serves, and says what to do next", async () => {
  const told = await start("bare", { cwd: join(folder, "home"), npx: ["--no-install", "tollgate"] });
  for (const step of [
    "operator key",
    "npx tollgate account create",
    "npx tollgate account credit",
    "npx tollgate key create",
    "OPENAI_API_KEY",
    "tollgate.yaml",
    "tollgate serve --demo",
  ])
    expect(told).toContain(step);
});

function npm(directory: string, ...args: string[]): string {
  const { status, stdout, stderr } = spawnSync("npm", args, { cwd: directory, encoding: "utf8" });
  if (status !== 0) throw new Error(`npm ${args.join(" ")} failed: ${stderr}`);
  return stdout;
}

interface Way {
  readonly cwd: string;
  /** What npx is told before the program's own arguments. */
  readonly npx: readonly string[];
}

/** Starts it with data of its own, and returns what it tells a person once it serves. */
async function start(name: string, { cwd, npx }: Way, ...args: string[]): Promise<string> {
  const addresses = { TOLLGATE_HTTP: "127.0.0.1:0", TOLLGATE_GRPC: "127.0.0.1:0", TOLLGATE_ADMIN: "127.0.0.1:0" };
  const child = spawn("npx", [...npx, ...args], {
    cwd,
    detached: true,
    stdio: ["ignore", "ignore", "pipe"],
    env: { ...PASSED_ON, TOLLGATE_DATA: join(folder, name), ...addresses },
  });
  children.push(child);
  const lines: string[] = [];
  for await (const line of createInterface({ input: child.stderr })) {
    lines.push(line);
    // The welcome ends with an empty line, after others that stand between its parts.
    if (/tollgate serve --demo|^ {2}curl /.test(line)) return lines.join("\n");
  }
  throw new Error(`it ended: ${lines.join("\n")}`);
}
