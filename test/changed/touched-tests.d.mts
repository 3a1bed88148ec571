/** The types of touched-tests.mjs. */

export function touchedTests(root: string, changed: readonly string[]): string[];
