/** Makes gen/ with protoc instead of buf: that of grpc-tools, where it is installed, or the one that PROTOC names. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import { genProtocol } from "./gen-protocol.mjs";
import { leaveClientsOut } from "./gen-services.mjs";
import { genWasm } from "./gen-wasm.mjs";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
/** Made aside, so that a failure leaves gen/ as it was. */
const ASIDE = join(ROOT, "dist", "gen-protoc");

/** The compiler, and the folder that holds google/protobuf/*.proto. */
function findCompiler() {
  const named = process.env["PROTOC"];
  if (named) return { protoc: named, include: join(dirname(named), "..", "include") };
  try {
    const folder = dirname(createRequire(import.meta.url).resolve("grpc-tools/package.json"));
    const protoc = join(folder, "bin", process.platform === "win32" ? "protoc.exe" : "protoc");
    if (existsSync(protoc)) return { protoc, include: join(folder, "bin") };
  } catch {
    // Not installed: said below.
  }
  process.stderr.write(
    "gen-protoc: grpc-tools is not installed; it is optional, since it downloads its compiler. Any of these makes gen/:\n" +
      "gen-protoc:   npm run gen (with buf, which is installed)\n" +
      "gen-protoc:   npm install --no-save grpc-tools && npm run gen:protoc\n" +
      "gen-protoc:   PROTOC=/usr/bin/protoc npm run gen:protoc\n",
  );
  process.exit(1);
}

const { protoc, include } = findCompiler();
const [plugin] = parse(readFileSync(join(ROOT, "buf.gen.yaml"), "utf8")).plugins;
const ours = readdirSync(join(ROOT, "proto"), { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name.endsWith(".proto"))
  .map((entry) => relative(join(ROOT, "proto"), join(entry.parentPath, entry.name)));
// buf writes the files of Google's that ours import as well.
const imported = ours.flatMap((name) => {
  const text = readFileSync(join(ROOT, "proto", name), "utf8");
  return [...text.matchAll(/^import "(google\/protobuf\/[^"]+)";/gm)].map((match) => match[1] ?? "");
});

rmSync(ASIDE, { recursive: true, force: true });
mkdirSync(ASIDE, { recursive: true });
const { status, error } = spawnSync(
  protoc,
  [
    "-I",
    "proto",
    "-I",
    include,
    "--plugin=protoc-gen-ts_proto=node_modules/.bin/protoc-gen-ts_proto",
    `--ts_proto_out=${ASIDE}`,
    ...plugin.opt.map((/** @type {string} */ option) => `--ts_proto_opt=${option}`),
    "--include_imports",
    `--descriptor_set_out=${join(ASIDE, "tollgate.binpb")}`,
    ...new Set([...ours, ...imported].sort()),
  ],
  { cwd: ROOT, stdio: "inherit" },
);
if (error !== undefined || status !== 0) {
  process.stderr.write(`gen-protoc: ${protoc} failed${error === undefined ? "" : `: ${error.message}`}\n`);
  process.exit(1);
}
leaveClientsOut(ASIDE);
genProtocol(ASIDE);
await genWasm(ASIDE);
rmSync(join(ROOT, "gen"), { recursive: true, force: true });
renameSync(ASIDE, join(ROOT, "gen"));
process.stdout.write(
  `gen-protoc: made gen/ with ${protoc}; gen:check compares with what buf makes, so end with npm run gen\n`,
);
