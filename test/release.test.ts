/** What a release is checked for: versions, changelog, chart, SBOM, contents and secrets. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import {
  changelogSection,
  copiedPaths,
  packageFaults,
  productionOnly,
  renderChart,
  renderTemplate,
  sbomFaults,
  secretFaults,
  sentPaths,
  versionFaults,
} from "../.ci/release-checks.mjs";

const read = (path: string): string => readFileSync(path, "utf8");
const readOfChart = (path: string): string => read(`deploy/helm/tollgate/${path}`);
const plain = parseAllDocuments(read("deploy/kubernetes.yaml")).map((document): unknown => document.toJS());

test("the tree says one version everywhere, and another is found with its place", () => {
  expect(versionFaults(read)).toEqual([]);
  const { version } = JSON.parse(read("package.json"));
  const changed = (path: string): string =>
    path === "package.json" ? '{"version":"9.9.9"}' : read(path).replaceAll("image: tollgate:", "image: elsewhere:");
  const faults = versionFaults(changed);
  expect(faults).toHaveLength(7);
  expect(faults).toContain(`schemas/openapi.json says ${version}, package.json 9.9.9: write 9.9.9 there`);
  expect(faults.at(-1)).toMatch(/^deploy\/kubernetes.yaml \(image\) says undefined/);
});

test("the chart renders to the plain manifests", () => {
  expect(renderChart(readOfChart)).toEqual(plain);
});

test("each value of the chart reaches its manifests", () => {
  const values = {
    image: "registry.example/t:1",
    replicas: 5,
    minAvailable: 4,
    secret: "mine",
    resources: { limits: {} },
  };
  const rendered = JSON.stringify(renderChart(readOfChart, { ...values, settings: "models: {}\nupstreams: {}\n" }));
  for (const part of [
    '"image":"registry.example/t:1"',
    '"replicas":5',
    '"minAvailable":4',
    '"secretRef":{"name":"mine"}',
    '"resources":{"limits":{}}',
    '"tollgate.yaml":"models: {}\\nupstreams: {}\\n"',
  ])
    expect(rendered).toContain(part);
});

test.each([
  ["{{ .Values.a }}", "1"],
  ["{{ .Values.b | indent 2 }}", "  x\n  y"],
  ["{{ .Values.c | toJson }}", '{"d":1}'],
])("a template %j renders to %j", (template, want) => {
  expect(renderTemplate(template, { Values: { a: 1, b: "x\ny", c: { d: 1 } } })).toBe(want);
});

test.each([
  ["{{ .Values.none }}", "give it a value in values.yaml"],
  ["{{ .Values.c }}", "use toJson"],
  ["{{ if .Values.a }}", "the chart says {{ if .Values.a }}"],
  ["{{- .Values.a }}", "the chart says {{- .Values.a }}"],
])("a template %j is refused with what to do", (template, want) => {
  expect(() => renderTemplate(template, { Values: { a: 1, c: {} } })).toThrow(want);
});

const LOCK = {
  packages: {
    "": { name: "tollgate", workspaces: ["console"], devDependencies: { t: "3.0.0" } },
    "node_modules/a": { version: "1.0.0" },
    "node_modules/a/node_modules/@s/b": { version: "2.0.0" },
    "node_modules/alias": { name: "c", version: "1.0.0" },
    "node_modules/t": { version: "3.0.0", dev: true },
    "node_modules/tollgate-console": { resolved: "console", link: true },
    console: { name: "tollgate-console", devDependencies: { t: "3.0.0" } },
  },
};
const licenses = [{ license: { id: "MIT" } }];
const component = (name: string, version: string) => ({ name, version, licenses });
const SBOM = {
  bomFormat: "CycloneDX",
  metadata: { component: { name: "tollgate", version: "0.2.0" } },
  components: [component("a", "1.0.0"), component("@s/b", "2.0.0"), component("c", "1.0.0")],
};

test("an SBOM is what the lockfile installs for users, each with a licence", () => {
  expect(sbomFaults(SBOM, LOCK, "0.2.0")).toEqual([]);
  expect(sbomFaults({ ...SBOM, bomFormat: "SPDX" }, LOCK, "0.3.0")).toHaveLength(2);
  const components = [component("a", "1.0.0"), component("t", "3.0.0"), { name: "c", version: "1.0.0", licenses: [] }];
  expect(sbomFaults({ ...SBOM, components }, LOCK, "0.2.0")).toEqual([
    "the SBOM lacks @s/b@2.0.0, which the lockfile has",
    "the SBOM has t@3.0.0, which the lockfile has not",
    "the SBOM names no licence of c: find out, or do without it",
  ]);
});

test("an SBOM is made of a lockfile without what development needs", () => {
  const { manifest, lock } = productionOnly(
    { name: "tollgate", workspaces: ["console"], dependencies: {}, devDependencies: {} },
    LOCK,
  );
  expect(manifest).toEqual({ name: "tollgate", dependencies: {} });
  expect(Object.keys(lock.packages)).toEqual(Object.keys(LOCK.packages).slice(0, 4));
  expect(lock.packages[""]).toEqual({ name: "tollgate" });
});

test("the changelog speaks of a version under its own heading, or before it is cut under Unreleased", () => {
  const open = "# Changelog\n\n## Unreleased\n\n- One.\n- Two.\n";
  expect(changelogSection(open, "0.2.0")).toEqual({ notes: "- One.\n- Two.\n", lines: 2, isCut: false });
  const cut = open.replace("## Unreleased", "## Unreleased\n\n## 0.2.0 - 2026-11-23").concat("\n## 0.1.0\n\n- Old.\n");
  expect(changelogSection(cut, "0.2.0")).toEqual({ notes: "- One.\n- Two.\n", lines: 2, isCut: true });
  expect(() => changelogSection(cut.replace(" - 2026-11-23", ""), "0.2.0")).toThrow("dates 0.2.0 nowhere: write");
  expect(() => changelogSection(cut, "0.3.0")).toThrow(
    'says nothing of 0.3.0: write what users notice under "## 0.3.0',
  );
  expect(() => changelogSection(cut, "0.2")).toThrow("says nothing of 0.2:");
  const { version } = JSON.parse(read("package.json"));
  expect(changelogSection(read("CHANGELOG.md"), version).lines).toBeGreaterThan(0);
});

test("a package holds what it needs, nothing of the sources, and nothing that git does not know", () => {
  const { length } = packageFaults([], new Set());
  expect(length).toBeGreaterThan(5);
  const paths = [
    "LICENSE",
    "dist/program/main.js",
    "dist/program/a.ts",
    "proto/tollgate/internal/x.proto",
    "schemas/new.json",
  ];
  const faults = packageFaults(paths, new Set(["LICENSE", "proto/tollgate/internal/x.proto"]));
  expect(faults.slice(length - 2)).toEqual([
    "the package holds dist/program/a.ts: see files in package.json",
    "the package holds proto/tollgate/internal/x.proto: see files in package.json",
    "the package holds schemas/new.json, which git does not know: remove it",
  ]);
});

test.each([
  ["deploy/.env", ""],
  [".npmrc", ""],
  ["src/server.pem", ""],
  ["data/tollgate.db", ""],
  ["src/a.ts", `const key = "sk-${"a1".repeat(16)}";`],
  ["src/a.ts", `-----BEGIN PRIVATE KEY-----\n${"MIIE".repeat(12)}`],
  ["src/a.ts", `AKIA${"Q7".repeat(8)}`],
])("%s with %j looks like a secret", (path, text) => {
  expect(secretFaults([path], () => text)).toEqual([`${path} looks like a secret: take it out of the tree`]);
});

test.each(["/-----BEGIN PRIVATE KEY-----/", "AKIAIOSFODNN7EXAMPLE", "sk-...", "task-of-a-name"])(
  "%j is none",
  (text) => {
    expect(secretFaults(["src/key.ts"], () => text)).toEqual([]);
  },
);

test("an image gets what .dockerignore leaves, among it all that its build reads", () => {
  const ignored = "docs/pictures\n# a word\ndata\n";
  expect(sentPaths(["docs/a.md", "docs/pictures/b.png", "data", "database.ts"], ignored)).toEqual([
    "docs/a.md",
    "database.ts",
  ]);
  expect(() => sentPaths([], "*.md\n")).toThrow(".dockerignore says *.md");
  const inputs = ["src/main.ts", "gen/tollgate.binpb", "docs/keys.md", "package-lock.json", "schemas/openapi.json"];
  expect(sentPaths(inputs, read(".dockerignore"))).toEqual(inputs);
  const copied = copiedPaths(read("Dockerfile"));
  for (const input of inputs) expect(copied.some((path) => input === path || input.startsWith(`${path}/`))).toBe(true);
});

test("the changelog has versions, newest first, each with Upgrading and the kinds of Keep a Changelog", () => {
  const headings = read("CHANGELOG.md").match(/^##? .*$/gm) ?? [];
  expect(headings.slice(0, 2)).toEqual(["# Changelog", "## [Unreleased]"]);
  const versions = headings.slice(2);
  for (const heading of versions) expect(heading).toMatch(/^## \[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d$/);
  expect(versions.map((heading) => heading.slice(-10))).toEqual(
    versions
      .map((heading) => heading.slice(-10))
      .toSorted()
      .toReversed(),
  );
  expect(versions[0]).toContain(`[${JSON.parse(read("package.json")).version}]`);
  const kinds = read("CHANGELOG.md").match(/^### .*$/gm) ?? [];
  expect(kinds.length).toBeGreaterThan(0);
  for (const kind of kinds) expect(kind).toMatch(/^### (Upgrading|Added|Changed|Deprecated|Removed|Fixed|Security)$/);
});

test("what an image copies from its context is read from the Dockerfile, and is there", () => {
  expect(copiedPaths("FROM a AS b\nCOPY x y \\\n  ./\nCOPY --from=b /d e\nCOPY x z\n")).toEqual(["x", "y"]);
  expect(copiedPaths(read("Dockerfile"))).toContain("package-lock.json");
});
