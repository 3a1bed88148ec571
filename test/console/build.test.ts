/** What the build of the console weighs, and that it needs nothing from elsewhere. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const BUILT = "dist/console";
const FIRST_LOAD_BYTES_MAX = 200 * 1_024;
const PAGE_BYTES_MAX = 60 * 1_024;
/** The editor of the settings file comes when an operator opens it. */
const EDITOR = "admin/yaml-editor.tsx";
const EDITOR_BYTES_MAX = 140 * 1_024;
/** What is loaded before a part of a form comes: its page, and the box of a dialog. */
const BEFORE: Readonly<Record<string, readonly string[]>> = {
  "playground/markdown.tsx": ["playground/playground.tsx"],
  "admin/target-list.tsx": ["admin/prices.tsx", "parts/dialog-box.tsx"],
};

interface Chunk {
  readonly file: string;
  readonly isEntry?: boolean;
  readonly isDynamicEntry?: boolean;
  readonly imports?: readonly string[];
  readonly dynamicImports?: readonly string[];
}

const manifest: Readonly<Record<string, Chunk>> = JSON.parse(readFileSync(join(BUILT, "manifest.json"), "utf8"));
const entry = Object.keys(manifest).find((name) => manifest[name]?.isEntry === true) ?? "";

/** A chunk and all that it needs at once. */
function closureOf(name: string, found = new Set<string>()): ReadonlySet<string> {
  if (found.has(name)) return found;
  found.add(name);
  for (const other of manifest[name]?.imports ?? []) closureOf(other, found);
  return found;
}

function compressedBytes(names: Iterable<string>): number {
  const files = [...names].map((name) => manifest[name]?.file ?? "").filter((file) => file.endsWith(".js"));
  return files.reduce((sum, file) => sum + statSync(join(BUILT, `${file}.gz`)).size, 0);
}

test("the first load is at most 200 KB of scripts, compressed", () => {
  expect(entry).not.toBe("");
  expect(compressedBytes(closureOf(entry))).toBeLessThanOrEqual(FIRST_LOAD_BYTES_MAX);
});

test("every other page comes by itself, and is small", () => {
  const first = closureOf(entry);
  const pages = Object.keys(manifest).filter((name) => manifest[name]?.isDynamicEntry === true);
  expect(pages.length).toBeGreaterThanOrEqual(10);
  for (const page of pages) {
    const before = new Set(first);
    for (const name of BEFORE[page] ?? []) closureOf(name, before);
    const more = [...closureOf(page)].filter((name) => !before.has(name));
    expect(compressedBytes(more), page).toBeLessThanOrEqual(page === EDITOR ? EDITOR_BYTES_MAX : PAGE_BYTES_MAX);
  }
});

test("it holds every page of the docs but those that it lists itself", () => {
  const pages = readdirSync("docs").filter((name) => name.endsWith(".md") && !/^(README|quick-start)\.md$/.test(name));
  const held = new Set(Object.keys(manifest).map((name) => /(?:^|\/)docs\/([\w-]+\.md)$/.exec(name)?.[1]));
  expect(pages.filter((name) => !held.has(name))).toEqual([]);
});

test("it is React's build for production, also where a test built it", () => {
  const names = readdirSync(join(BUILT, "assets")).filter((name) => name.endsWith(".js"));
  const ofDevelopment = names.filter((name) =>
    readFileSync(join(BUILT, "assets", name), "utf8").includes("react-devtools"),
  );
  expect(ofDevelopment).toEqual([]);
});

test("the page has no inline script and no style of its own, and names no other host", () => {
  const page = readFileSync(join(BUILT, "index.html"), "utf8");
  expect(page).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\son\w+=|\sstyle=|https?:\/\//);
  expect(page).toContain('nonce="TOLLGATE_NONCE"');
});

test("assets carry what they hold in their names, each beside its compressed form", () => {
  const names = readdirSync(join(BUILT, "assets"));
  const plain = names.filter((name) => !name.endsWith(".gz"));
  expect(plain.filter((name) => !/-[\w-]{8}\.(js|css|svg)$/.test(name))).toEqual([]);
  expect(names.toSorted()).toEqual(plain.flatMap((name) => [name, `${name}.gz`]).toSorted());
});

/** Every source of the console with its text. */
const sources = readdirSync("console", { recursive: true, encoding: "utf8" })
  .filter((name) => /\.tsx?$/.test(name))
  .map((name) => ({ path: `console/${name}`, text: readFileSync(join("console", name), "utf8") }));

test("every part that is loaded later is waited for where the network is away", () => {
  const bare = sources.flatMap(({ path, text }) =>
    [...text.matchAll(/^.*\bimport\(.*$/gm)]
      .filter(([line]) => !/\b(?:late|opened)\((?:async )?\(\) => (?:import|\(\{ default: \(await import)\(/.test(line))
      .map(([line]) => `${path}: ${line.trim()}`),
  );
  // `opened` in router.tsx waits by `late`; the wrapper of the one that is left stands on the line before.
  expect(bare).toEqual(['console/parts/dialog.tsx: loaded = (await import("./dialog-box.tsx")).DialogBox;']);
});

test("what an answer shows stays where it cannot be asked anew: one part of the program decides that", () => {
  const own = sources.filter(
    ({ path, text }) => !path.endsWith("parts/loaded.tsx") && /onAgain=\{.*refetch/.test(text),
  );
  // The start of the console has nothing to show yet.
  expect(own.map(({ path }) => path)).toEqual(["console/shell/gate.tsx"]);
});
