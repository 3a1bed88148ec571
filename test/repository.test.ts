/** What a stranger looks for at the root of a repository is there, and says the same as the rest. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { z } from "zod";

const read = (path: string): string => readFileSync(path, "utf8");
const MANIFEST = z
  .object({
    license: z.string(),
    engines: z.object({ node: z.string() }),
    files: z.array(z.string()),
    scripts: z.record(z.string(), z.string()),
    dependencies: z.record(z.string(), z.string()),
    devDependencies: z.record(z.string(), z.string()),
  })
  .loose()
  .parse(JSON.parse(read("package.json")));
/** The workspace of the console. */
const CONSOLE = z
  .object({ devDependencies: z.record(z.string(), z.string()) })
  .loose()
  .parse(JSON.parse(read("console/package.json")));

test.each([
  "LICENSE",
  "NOTICE",
  "SECURITY.md",
  "CONTRIBUTING.md",
  "CODE_OF_CONDUCT.md",
  "CHANGELOG.md",
  ".editorconfig",
  ".nvmrc",
  ".github/ISSUE_TEMPLATE/bug.yml",
  ".github/ISSUE_TEMPLATE/feature.yml",
  ".github/pull_request_template.md",
  ".github/dependabot.yml",
  ".devcontainer/devcontainer.json",
])("%s is there", (path) => {
  expect(read(path).trim().length).toBeGreaterThan(0);
});

test("the licence is the whole Apache License 2.0, and the package names it and has it", () => {
  const words = read("LICENSE").replaceAll(/\s+/g, " ").trim();
  expect(words).toMatch(/^Apache License Version 2.0, January 2004 .* limitations under the License.$/);
  const terms = words.slice(0, words.indexOf("END OF TERMS AND CONDITIONS"));
  // Of the terms as the Apache Software Foundation publishes them, with one space between words.
  expect(createHash("sha256").update(terms).digest("hex").slice(0, 16)).toBe("d5e4c8942091934e");
  expect(MANIFEST.license).toBe("Apache-2.0");
  expect(MANIFEST.files).toContain("NOTICE");
});

test("the notice names the licence of each package that the console's bundle holds", () => {
  const notice = read("NOTICE").replaceAll(/\s+/g, " ");
  const sources = readdirSync("console", { recursive: true, encoding: "utf8" }).filter((name) => /\.tsx?$/.test(name));
  const imported = sources.flatMap((name) =>
    [...read(`console/${name}`).matchAll(/^(?:import|\}).* from "(@[^/"]+\/[^/"]+|[^."@][^/"]*)/gm)].map(
      ([, from]) => from ?? "",
    ),
  );
  const bundled = [...new Set(imported)].filter((name) => name in CONSOLE.devDependencies);
  expect(bundled).toContain("react");
  for (const name of bundled) {
    const { license } = z.object({ license: z.string() }).parse(JSON.parse(read(`node_modules/${name}/package.json`)));
    const maker = name
      .replace(/^@tanstack\/.*/, "TanStack")
      .replace(/^@codemirror\/.*/, "CodeMirror")
      .replace(/^@lezer\/.*/, "Lezer")
      .replace(/^@simplewebauthn\/.*/, "SimpleWebAuthn")
      .replace(/^react-aria.*/, "React Aria")
      .replace(/^react(-dom)?$/, "React");
    expect(notice).toMatch(new RegExp(`${maker}[^()]* \\(${license}\\)|${maker} \\(${license}\\)`));
  }
});

test("one major version of Node develops, checks and ships it, and the engines allow it", () => {
  const version = read(".nvmrc").trim();
  expect(read("Dockerfile")).toContain(`FROM node:${version}-bookworm-slim`);
  expect(read(".github/workflows/check.yml")).toContain(`container: node:${version}-bookworm\n`);
  expect(JSON.parse(read(".devcontainer/devcontainer.json")).image).toBe(`node:${version}-bookworm`);
  const [, least] = /^>=(\d+)/.exec(MANIFEST.engines.node) ?? [];
  expect(Number(version)).toBeGreaterThanOrEqual(Number(least));
});

test("the forge's workflow runs .ci/run and no check of its own", () => {
  const workflow = z
    .object({
      permissions: z.object({ contents: z.literal("read") }),
      jobs: z.record(
        z.string(),
        z.object({ steps: z.array(z.object({ uses: z.string().optional(), run: z.string().optional() })) }).loose(),
      ),
    })
    .loose()
    .parse(parse(read(".github/workflows/check.yml")));
  const steps = Object.values(workflow.jobs).flatMap(({ steps }) => steps);
  expect(steps.map(({ run }) => run).filter((run) => run !== undefined && !run.startsWith("git config"))).toEqual([
    ".ci/run ${{ matrix.part }}",
  ]);
  const parts = z.object({
    jobs: z.object({ check: z.object({ strategy: z.object({ matrix: z.object({ part: z.array(z.string()) }) }) }) }),
  });
  const { part } = parts.parse(parse(read(".github/workflows/check.yml"))).jobs.check.strategy.matrix;
  const [, known = ""] = /^ {2}(lint \|.*)\) ;;$/m.exec(read(".ci/run")) ?? [];
  expect(part).toEqual(known.split(" | "));
});

describe(".ci/run", () => {
  const steps = [...read(".ci/run").matchAll(/^ *step (.+)$/gm)].map(([, command = ""]) => command);
  const commands = steps.map((command) => /^npm (?:run )?([a-z:-]+)/.exec(command)?.[1]).filter((name) => name);

  test("names commands that exist", () => {
    expect(commands.length).toBeGreaterThan(6);
    expect(commands.filter((name) => MANIFEST.scripts[name ?? ""] === undefined)).toEqual([]);
  });

  test("runs all that `npm run check` does, a release without its end, and a short run of each proof", () => {
    const checks = [...(MANIFEST.scripts["check"] ?? "").matchAll(/npm (?:run )?([a-z:-]+)/g)].map(([, name]) => name);
    expect(checks).toContain("lint");
    expect(commands).toEqual(expect.arrayContaining([...checks, "smoke"]));
    expect(steps).toContain("npm run release -- --dry-run");
  });

  test("does what takes seconds before what takes minutes", () => {
    const first = commands.indexOf("test");
    for (const quick of ["lint", "format:check", "typecheck", "proto:lint", "gen:check"])
      expect([quick, commands.indexOf(quick) < first]).toEqual([quick, true]);
  });
});

test("npm commands that the root's pages name exist", () => {
  for (const page of ["CONTRIBUTING.md", "SECURITY.md", ".github/pull_request_template.md"])
    for (const [, name = ""] of read(page).matchAll(/`npm run ([a-z:-]+)/g))
      expect(Object.keys(MANIFEST.scripts), page).toContain(name);
});

test("versions of packages are exact, so that a build of today is a build of tomorrow", () => {
  const ranges = [MANIFEST.dependencies, MANIFEST.devDependencies, CONSOLE.devDependencies].flatMap(Object.entries);
  expect(ranges.filter(([, version]) => !/^(npm:[@\w/-]+@)?\d+\.\d+\.\d+$/.test(version))).toEqual([]);
});

describe("whoever installs on the oldest Node that is served is not told that it is too old", () => {
  const LOCK = z.object({
    packages: z.record(z.string(), z.object({ engines: z.object({ node: z.string().optional() }).optional() }).loose()),
  });
  const oldest = versionOf(MANIFEST.engines.node);

  /** Clients that the tests run as they are published, and that nobody installs with the program. */
  const NEWER: ReadonlySet<string> = new Set(["node_modules/openai", "node_modules/@google/genai"]);

  test("every package that is installed takes it, but for clients of the tests whose newest ask for more", () => {
    const { packages } = LOCK.parse(JSON.parse(read("package-lock.json")));
    const asked = Object.entries(packages).map(([place, { engines }]) => [place, engines?.node ?? "*"] as const);
    expect(asked.length).toBeGreaterThan(100);
    expect(asked.filter(([place, range]) => !isTaken(range) && !NEWER.has(place))).toEqual([]);
    expect(Object.keys(MANIFEST.dependencies).filter((name) => NEWER.has(`node_modules/${name}`))).toEqual([]);
  });

  test.each([
    { range: "*", is: true },
    { range: ">=20", is: true },
    { range: ">= 6.x", is: true },
    { range: "^18 || ^20.19.0", is: true },
    { range: "20 || >=22", is: true },
    { range: ">=22", is: false },
    { range: "^18.20.0 || >=22.12.0", is: false },
    { range: "^20.99.0 || >=22", is: false },
  ])("$range: $is", ({ range, is }) => {
    expect(isTaken(range)).toBe(is);
  });

  function isTaken(range: string): boolean {
    return range.split("||").some((one) => {
      if (one.trim() === "*") return true;
      const least = versionOf(one);
      return isAtLeast(oldest, least) && (one.includes(">=") || oldest[0] === least[0]);
    });
  }

  /** Major, minor and patch; what is not said is 0. */
  function versionOf(text: string): readonly number[] {
    const [, major = "0", minor = "0", patch = "0"] = /(\d+)(?:\.(\d+))?(?:\.(\d+))?/.exec(text) ?? [];
    return [major, minor, patch].map(Number);
  }

  function isAtLeast(version: readonly number[], least: readonly number[]): boolean {
    const differing = version.findIndex((part, index) => part !== least[index]);
    return differing === -1 || (version[differing] ?? 0) > (least[differing] ?? 0);
  }
});
