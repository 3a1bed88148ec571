/** What `stateful.mjs` finds, for TypeScript. */

export interface StatefulTests {
  /** Files whose database is the one that the run is about. */
  readonly chosen: readonly string[];
  /** Files that choose for themselves, with the file by which they do. */
  readonly own: readonly { readonly file: string; readonly by: string }[];
}

export function statefulTests(root: string): StatefulTests;
