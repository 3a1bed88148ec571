/** Every example of the docs, as a reader copies it off the page, runs against the gateway and prints the answer. */
import { execFile, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Metadata } from "@grpc/grpc-js";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { CLIENTS, type Client } from "../../../console/parts/snippets.js";
import { clientOf, type DynamicStream, type Json } from "../../support/dynamic-client.js";
import { joinWorld, type World } from "./world.js";

const run = promisify(execFile);
const RUN_MS_MAX = 100_000;

interface Runner {
  readonly file: string;
  readonly command: readonly string[];
  /** Ends well where the machine has what the example needs. */
  readonly probe: readonly string[];
}

const PYTHON = (module: string): Runner => ({
  file: "snippet.py",
  command: ["python3"],
  probe: ["python3", "-c", `import ${module}`],
});
const NODE: Runner = { file: "snippet.mjs", command: [process.execPath], probe: [process.execPath, "--version"] };
const RUNNERS: Readonly<Record<Client, Runner>> = {
  curl: { file: "snippet.sh", command: ["sh"], probe: ["curl", "--version"] },
  claudeCode: { file: "snippet.sh", command: ["sh"], probe: ["claude", "--version"] },
  codex: { file: "snippet.sh", command: ["sh"], probe: ["codex", "--version"] },
  python: PYTHON("openai"),
  typescript: NODE,
  anthropic: PYTHON("anthropic"),
  anthropicTs: NODE,
  gemini: PYTHON("google.genai"),
  geminiTs: NODE,
  go: { file: "snippet.go", command: ["go", "run"], probe: ["go", "version"] },
  grpc: { file: "snippet.sh", command: ["sh"], probe: ["grpcurl", "--version"] },
};

/** Within the packages of the project, which Node's examples import. */
const folder = mkdtempSync(fileURLToPath(new URL("../../../node_modules/.snippets-", import.meta.url)));
let world: World;
const codes = new Map<string, string>();

beforeAll(async () => {
  world = await joinWorld("snippets", 0);
  const [key] = world.keys;
  const { key: shown } = await world.api<{ key: { hint: string } }>(`/api/v1/keys/${key?.id}`);
  const page = await world.open("/docs");
  await page.getByLabel("Model").selectOption("fake-1");
  await page.getByLabel("Key").selectOption(key?.id ?? "");
  await page.getByText(`Replace ${shown.hint} with`).waitFor();
  for (const { id, name } of CLIENTS) {
    await page.getByLabel("Client").selectOption({ label: name });
    const code = (await page.getByRole("region", { name: "Quick start" }).textContent()) ?? "";
    expect(code, name).toContain(new URL(world.url).hostname);
    codes.set(id, code.replaceAll(shown.hint, key?.secret ?? ""));
    expect(codes.get(id), name).toContain(key?.secret);
  }
  await page.context().close();
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await world.close();
});

for (const { id, name } of CLIENTS) {
  const { file, command, probe } = RUNNERS[id];
  const [program = "", ...args] = probe;
  const isThere = spawnSync(program, args, { stdio: "ignore" }).status === 0;
  test.runIf(isThere)(`${name} prints the answer`, async () => {
    const path = join(folder, file);
    writeFileSync(path, codes.get(id) ?? "");
    const [interpreter = "", ...before] = command;
    const { stdout } = await run(interpreter, [...before, path], { timeout: RUN_MS_MAX });
    expect(stdout).toContain("Hello from fake-1.");
  });
}

/** Where their packages are not at hand they are at least Python, which names no other variable than its own. */
const python = ["/usr/bin/python3", "python3"].find((file) => spawnSync(file, ["--version"]).status === 0) ?? "";
const CHECK = `import ast, builtins, sys
tree = ast.parse(sys.stdin.read())
names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
imported = {alias.asname or alias.name.split(".")[0] for node in ast.walk(tree)
            if isinstance(node, (ast.Import, ast.ImportFrom)) for alias in node.names}
bound = imported | {node.id for node in names if isinstance(node.ctx, ast.Store)} | set(dir(builtins))
print(sorted({node.id for node in names if isinstance(node.ctx, ast.Load)} - bound))`;

test.runIf(python !== "").each(CLIENTS.filter(({ id }) => RUNNERS[id].file === "snippet.py"))(
  "$name is Python and uses no name that it does not bind",
  ({ id }) => {
    const { stdout, stderr } = spawnSync(python, ["-c", CHECK], { input: codes.get(id) ?? "", encoding: "utf8" });
    expect(stderr).toBe("");
    expect(stdout.trim()).toBe("[]");
  },
);

test("gRPC's example is a call that the protocol knows, and is answered", async () => {
  const code = codes.get("grpc") ?? "";
  const [, secret = ""] = /authorization: Bearer (\S+)"/.exec(code) ?? [];
  const [, json = ""] = /-d '(.*)' \\\n/.exec(code) ?? [];
  const [, service = "", method = ""] = / (tollgate\.v1\.\w+)\/(\w+)$/.exec(code) ?? [];
  const client = clientOf(service, inject("shared").grpc);
  const metadata = new Metadata();
  metadata.set("authorization", `Bearer ${secret}`);
  // As every client that is made of the .proto files does.
  const stream: DynamicStream = Reflect.get(client, method).call(client, JSON.parse(json), metadata);
  const told = await new Promise<string>((resolve, reject) => {
    const events: Json[] = [];
    stream.on("data", (event) => void events.push(event));
    stream.on("error", reject);
    stream.on("end", () => resolve(JSON.stringify(events)));
  });
  client.close();
  expect(told).toContain("fake-1");
});

const hasCurl = spawnSync("curl", ["--version"], { stdio: "ignore" }).status === 0;

/** Runs what a page shows, with a secret in the place of its key's hint. */
async function runShown(code: string, hint: string, secret: string): Promise<string> {
  expect(code).toContain(hint);
  const path = join(folder, "shown.sh");
  writeFileSync(path, code.replaceAll(hint, secret));
  return (await run("sh", [path], { timeout: RUN_MS_MAX })).stdout;
}

test.runIf(hasCurl)("the examples of a page of docs run as they are shown, with the chosen key", async () => {
  const { key, secret } = await world.api<{ key: { id: string; hint: string }; secret: string }>("/api/v1/keys", {
    account_id: "snippets",
    settings: { name: "of docs", scopes: ["alerts", "usage", "keys"] },
  });
  const page = await world.open(`/docs?about=alerts&key=${key.id}`);
  await page.getByText(key.hint).first().waitFor();
  const code = (await page.locator("article pre").first().textContent()) ?? "";
  expect(code).toContain(world.url);
  // The last of them watches until it is stopped.
  const [before = ""] = code.split("curl -N");
  const told = await runShown(before, key.hint, secret);
  expect(told).toContain('"secret":"whsec_');
  expect(told).toContain('"kind":"balance_low"');

  await world.go(page, `/docs?about=api&key=${key.id}`);
  for (const [path, tells] of [
    ["GET /api/v1/keys", '"keys":['],
    ["GET /api/v1/alerts", '"alerts":['],
  ] as const) {
    await page.getByText(path, { exact: true }).click();
    const example = page.locator("details[open] pre").first();
    expect(await runShown((await example.textContent()) ?? "", key.hint, secret), path).toContain(tells);
    await page.getByText(path, { exact: true }).click();
  }
  await page.context().close();
});
