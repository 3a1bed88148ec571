/** Which packages a manifest pins that the tests run as clients, and how far one is behind. */

/** @typedef {{ readonly name: string, readonly pinned: string }} Client */
/** @typedef {{ readonly pinned: string, readonly newest: string }} Row */

/** Where clients of npm are pinned: what `clientsIn` finds in the program's own manifest, and all of the others. */
export const MANIFESTS = ["package.json", "test/agents/package.json", "test/frameworks/package.json"];
/** Where Python's are. */
export const REQUIREMENTS = ["clients", "older", "aider"].map(
  (name) => `test/frameworks/python/${name}/requirements.txt`,
);

/** Packages of the program's own manifest that are clients: the rest of it builds and tests. */
const CLIENTS = /^(openai|ai|@ai-sdk\/.+|@anthropic-ai\/sdk|@google\/genai)$/;

/** From `ai` 7 on they need Node 22 and tell the usage of all steps as one: the tests still read it by the step. */
const HELD = new Set(["ai", "@ai-sdk/openai", "@ai-sdk/anthropic"]);

/**
 * The clients of a manifest, each by its exact version. One under another name is the older one that is kept as it is.
 * @param {import("./pins.mjs").Manifest} manifest
 * @returns {Client[]}
 */
export function clientsIn({ devDependencies, dependencies = {} }) {
  const own = Object.entries(devDependencies ?? dependencies);
  const isProgram = devDependencies !== undefined;
  return own
    .filter(([name, version]) => /^\d/.test(version) && (!isProgram || CLIENTS.test(name)))
    .map(([name, pinned]) => ({ name, pinned }));
}

/**
 * The clients of a requirements.txt of Python: each line is a name and its exact version.
 * @param {string} requirements
 * @returns {Client[]}
 */
export function pythonClientsIn(requirements) {
  return requirements
    .split("\n")
    .map((line) => /^([\w.-]+)==(\S+)$/.exec(line))
    .flatMap((found) => (found === null ? [] : [{ name: found[1] ?? "", pinned: found[2] ?? "" }]));
}

/** @param {Row} row */
export function behind({ pinned, newest }) {
  return pinned !== newest;
}

/**
 * True where a whole major version is missing, but for packages that are held back.
 * @param {Client & Row} row
 */
export function isMajor({ name, pinned, newest }) {
  return !HELD.has(name) && pinned.split(".")[0] !== newest.split(".")[0];
}
