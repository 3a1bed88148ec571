/** What `loaded.mjs` finds, for TypeScript. */

export function loadedBy(root: string, files: readonly string[]): readonly string[];
