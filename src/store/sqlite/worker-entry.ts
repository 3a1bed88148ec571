/**
 * Finds the JavaScript of the database's thread: beside this file in a build; a test of the sources uses the build's.
 */

export function workerEntry(): URL {
  const beside = new URL("./worker.js", import.meta.url);
  if (!import.meta.url.endsWith(".ts")) return beside;
  // A thread of this Node cannot load TypeScript, and the tests build the program before they run.
  return new URL(beside.href.replace("/src/store/", "/dist/src/store/"));
}
