/** What each thread beside the event loop loads: every package costs it memory, and the start time. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
/** Types are gone when it runs. */
const IMPORTS = /^(?:import|export)(?! type\b)[^;"']*?\bfrom "([^"]+)";|^import "([^"]+)";/gm;

/** The files and packages that an entry loads before it runs, by the imports of the sources. */
function loadedBy(entry: string): { readonly files: ReadonlySet<string>; readonly packages: readonly string[] } {
  const files = new Set<string>();
  const packages = new Set<string>();
  const waiting = [entry];
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (files.has(file)) continue;
    files.add(file);
    for (const [, from, alone] of readFileSync(join(ROOT, file), "utf8").matchAll(IMPORTS)) {
      const name = from ?? alone ?? "";
      if (name.startsWith(".")) waiting.push(join(dirname(file), name).replace(/\.js$/, ".ts"));
      else if (!name.startsWith("node:")) packages.add(name);
    }
  }
  return { files, packages: [...packages].toSorted() };
}

describe("a thread loads the packages that it works with, and no other", () => {
  test.each([
    { entry: "src/store/sqlite/worker.ts", packages: ["@bufbuild/protobuf/wire", "@photostructure/sqlite"] },
    { entry: "src/reading/reading-worker.ts", packages: ["@bufbuild/protobuf/wire", "zod"] },
  ])("$entry: $packages", ({ entry, packages }) => {
    expect(loadedBy(entry).packages).toEqual(packages);
  });

  test("the database's thread reads four messages, and loads no other", () => {
    const generated = [...loadedBy("src/store/sqlite/worker.ts").files].filter((file) =>
      file.startsWith("gen/tollgate"),
    );
    const read = ["account_service", "demands", "key_service", "quota"].map((name) => `gen/tollgate/v1/${name}.ts`);
    expect(generated.toSorted()).toEqual(read);
  });
});

test("no generated file needs a gRPC library when it runs", () => {
  const { files, packages } = loadedBy("src/api/index.ts");
  expect([...files].every((file) => existsSync(join(ROOT, file)))).toBe(true);
  expect(packages).toEqual(["@bufbuild/protobuf/wire"]);
});
