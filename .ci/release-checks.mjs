/** What a release is checked for by reading alone: versions, changelog, chart, SBOM, contents and secrets. */
import { parse, parseAllDocuments } from "yaml";

/** Files that are a secret by their name. */
const SECRET_NAMES =
  /(^|\/)(\.env(\..+)?|\.npmrc|\.netrc|id_(rsa|ecdsa|ed25519)|credentials\.json|[^/]+\.(pem|key|p12|pfx|db|sqlite3?))$/;
/** Secrets by their form; a pattern that looks for one, or the example of a maker's documents, is none. */
const SECRET_TEXTS = [
  /-----BEGIN [A-Z ]*PRIVATE KEY-----\s+[A-Za-z0-9+/=]{40}/,
  /\bsk-(ant-|proj-)?[A-Za-z0-9_-]{32,}\b/,
  /\bgh[pousr]_[A-Za-z0-9]{36}\b/,
  /\bAKIA[A-Z0-9]{16}\b(?<!EXAMPLE)/,
  /\bAIza[A-Za-z0-9_-]{35}\b/,
];
const PACKAGE_NEEDS = [
  "package.json",
  "LICENSE",
  "NOTICE",
  "README.md",
  "CHANGELOG.md",
  "dist/program/main.js",
  "dist/console/index.html",
  "gen/tollgate.binpb",
  "schemas/openapi.json",
  "proto/tollgate/v1/inference_service.proto",
];
const PACKAGE_KEEPS_OUT = /^(src|console|test|\.ci|data)\/|^proto\/tollgate\/internal\/|\.(ts|tsx|map|tsbuildinfo)$/;

/** @typedef {{ name?: string, version?: string, dev?: boolean, link?: boolean }} Locked */
/** @typedef {{ version?: string, packages: Record<string, Locked> }} Lockfile */
/** @typedef {{ bomFormat: string, metadata: { component: { name: string, version: string } },
 *   components: { name: string, version: string, licenses?: unknown[] }[] }} Sbom */

/**
 * Where the tree says another version than package.json.
 * @param {(path: string) => string} read @returns {string[]}
 */
export function versionFaults(read) {
  const { version } = JSON.parse(read("package.json"));
  const lock = JSON.parse(read("package-lock.json"));
  const chart = parse(read("deploy/helm/tollgate/Chart.yaml"));
  const said = {
    "package-lock.json": lock.version,
    "package-lock.json (its first package)": lock.packages[""].version,
    "schemas/openapi.json": JSON.parse(read("schemas/openapi.json")).info.version,
    "deploy/helm/tollgate/Chart.yaml (version)": chart.version,
    "deploy/helm/tollgate/Chart.yaml (appVersion)": chart.appVersion,
    "deploy/helm/tollgate/values.yaml (image)": parse(read("deploy/helm/tollgate/values.yaml")).image.split(":").at(-1),
    "deploy/kubernetes.yaml (image)": /image: tollgate:(\S+)/.exec(read("deploy/kubernetes.yaml"))?.[1],
  };
  return Object.entries(said)
    .filter(([, found]) => found !== version)
    .map(([place, found]) => `${place} says ${found}, package.json ${version}: write ${version} there`);
}

/**
 * What the changelog says of a version. Before a release is cut its lines stand under Unreleased.
 * @param {string} text @param {string} version @returns {{ notes: string, lines: number, isCut: boolean }}
 */
export function changelogSection(text, version) {
  const sections = text.split(/^(?=## )/m).slice(1);
  const titled = sections.find((section) => /^## \[?([^\]\s]+)/.exec(section)?.[1] === version);
  const isCut = titled !== undefined;
  const found = titled ?? sections.find((section) => /^## \[?Unreleased\b/.test(section));
  const notes = found?.slice(found.indexOf("\n") + 1).trim() ?? "";
  const lines = notes.split("\n").filter((line) => line.startsWith("- ")).length;
  if (lines === 0)
    throw new Error(
      `CHANGELOG.md says nothing of ${version}: write what users notice under "## ${version} - <the day>"`,
    );
  if (isCut && !/^## .* - \d{4}-\d{2}-\d{2}$/m.test(titled))
    throw new Error(`CHANGELOG.md dates ${version} nowhere: write "## ${version} - <the day, as 2026-01-31>"`);
  return { notes: `${notes}\n`, lines, isCut };
}

/**
 * A template of the chart with its values filled in, as `helm template` does for the little that ours use.
 * @param {string} template @param {object} context @returns {string}
 */
export function renderTemplate(template, context) {
  const [, condition, body = template] = WHOLE_IF.exec(template) ?? [];
  if (condition !== undefined && valueAt(context, condition) !== true) return "";
  return body.replaceAll(/\{\{(.*?)\}\}/g, (whole, /** @type {string} */ inner) => {
    const [, path = "", call = "", width = ""] = /^ \.([\w.]+)(?: \| (toJson|indent (\d+)))? $/.exec(inner) ?? [];
    if (path === "") throw new Error(`the chart says ${whole}: use { .Values.x }, toJson and indent alone`);
    const value = valueAt(context, path);
    if (call === "toJson") return JSON.stringify(value);
    if (typeof value === "object") throw new Error(`the chart writes .${path}, which is no text: use toJson`);
    const pad = " ".repeat(Number(width));
    return pad + String(value).replaceAll("\n", `\n${pad}`);
  });
}

/** A template that is there or not, as its first line says. */
const WHOLE_IF = /^\{\{- if \.([\w.]+) \}\}\n([^]*)\{\{- end \}\}\n$/;

/** @param {object} context @param {string} path @returns {unknown} */
function valueAt(context, path) {
  /** @type {unknown} */
  let value = context;
  for (const name of path.split("."))
    value =
      typeof value === "object" && value !== null
        ? Object.entries(value).find(([key]) => key === name)?.[1]
        : undefined;
  if (value === undefined || value === null) throw new Error(`the chart uses .${path}: give it a value in values.yaml`);
  return value;
}

const TEMPLATES = ["tollgate", "ingress", "service-monitor"];

/**
 * The chart's manifests as objects. @param {(path: string) => string} read reads a file of the chart
 * @param {object} [values] in place of the chart's own @returns {unknown[]}
 */
export function renderChart(read, values = {}) {
  const context = { Release: { Name: "tollgate" }, Values: { ...parse(read("values.yaml")), ...values } };
  return TEMPLATES.flatMap((name) => {
    const rendered = parseAllDocuments(renderTemplate(read(`templates/${name}.yaml`), context), { merge: true });
    for (const { errors } of rendered) for (const error of errors) throw error;
    return rendered.map((document) => document.toJS());
  });
}

/**
 * True for what users install. The console, a workspace, is built before a release.
 * @param {[path: string, { dev?: boolean, link?: boolean }]} entry
 */
function isForUsers([path, { dev, link }]) {
  return dev !== true && link !== true && (path === "" || path.startsWith("node_modules/"));
}

/**
 * The manifest and the lockfile without what only development needs. `npm sbom --omit=dev` also leaves out each package
 * that development needs besides, so that it is asked for the SBOM of these instead.
 * @param {Record<string, unknown>} manifest @param {Lockfile} lock
 */
export function productionOnly(manifest, lock) {
  const { devDependencies: _, workspaces: __, ...ours } = manifest;
  const packages = Object.fromEntries(Object.entries(lock.packages).filter(isForUsers));
  const {
    devDependencies: ___,
    workspaces: ____,
    ...root
  } = /** @type {Record<string, unknown>} */ (packages[""] ?? {});
  return { manifest: ours, lock: { ...lock, packages: { ...packages, "": root } } };
}

/**
 * Where an SBOM differs from what the lockfile installs for users, or names no licence.
 * @param {Sbom} sbom @param {Lockfile} lock @param {string} version @returns {string[]}
 */
export function sbomFaults(sbom, lock, version) {
  const locked = new Set(
    Object.entries(lock.packages)
      .filter((entry) => entry[0] !== "" && isForUsers(entry))
      .map(([path, { name, version }]) => `${name ?? path.split("node_modules/").at(-1)}@${version}`),
  );
  const listed = new Set(sbom.components.map(({ name, version }) => `${name}@${version}`));
  const { component } = sbom.metadata;
  return [
    ...(sbom.bomFormat === "CycloneDX" ? [] : [`the SBOM is ${sbom.bomFormat}, not CycloneDX: use npm 10 or newer`]),
    ...(component.name === "tollgate" && component.version === version
      ? []
      : [`the SBOM is of ${component.name} ${component.version}, not of tollgate ${version}`]),
    ...[...locked].filter((one) => !listed.has(one)).map((one) => `the SBOM lacks ${one}, which the lockfile has`),
    ...[...listed].filter((one) => !locked.has(one)).map((one) => `the SBOM has ${one}, which the lockfile has not`),
    ...sbom.components
      .filter(({ licenses = [] }) => licenses.length === 0)
      .map(({ name }) => `the SBOM names no licence of ${name}: find out, or do without it`),
  ];
}

/**
 * What a package lacks, or holds that it should not. @param {readonly string[]} paths
 * @param {ReadonlySet<string>} tracked what git knows @returns {string[]}
 */
export function packageFaults(paths, tracked) {
  const isOurs = (/** @type {string} */ path) => path.startsWith("dist/") || tracked.has(path);
  return [
    ...PACKAGE_NEEDS.filter((path) => !paths.includes(path)).map((path) => `the package lacks ${path}`),
    ...paths
      .filter((path) => PACKAGE_KEEPS_OUT.test(path))
      .map((path) => `the package holds ${path}: see files in package.json`),
    ...paths
      .filter((path) => !isOurs(path))
      .map((path) => `the package holds ${path}, which git does not know: remove it`),
  ];
}

/**
 * What must not be given away. @param {readonly string[]} paths @param {(path: string) => string} read
 * @returns {string[]}
 */
export function secretFaults(paths, read) {
  const isSecret = (/** @type {string} */ path) =>
    SECRET_NAMES.test(path) || SECRET_TEXTS.some((form) => form.test(read(path)));
  return paths.filter(isSecret).map((path) => `${path} looks like a secret: take it out of the tree`);
}

/**
 * What of some paths reaches an image: not those that `.dockerignore` names, whose lines here are plain paths.
 * @param {readonly string[]} paths @param {string} dockerignore @returns {string[]}
 */
export function sentPaths(paths, dockerignore) {
  const ignored = dockerignore.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  for (const line of ignored)
    if (/[*?!]/.test(line)) throw new Error(`.dockerignore says ${line}: name files and folders alone`);
  return paths.filter((path) => !ignored.some((line) => path === line || path.startsWith(`${line}/`)));
}

/** The paths that a Dockerfile copies from its context. @param {string} dockerfile @returns {string[]} */
export function copiedPaths(dockerfile) {
  const lines = dockerfile.replaceAll(/\\\n\s*/g, " ").split("\n");
  const copies = lines.filter((line) => line.startsWith("COPY ") && !line.includes("--from="));
  return [...new Set(copies.flatMap((line) => line.split(/\s+/).slice(1, -1)))];
}
