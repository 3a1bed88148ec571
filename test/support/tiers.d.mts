/** The types of tiers.mjs. */

export function testFiles(root: string): string[];
export function tiersOf(root: string): {
  readonly unit: string[];
  readonly platform: string[];
  readonly prove: string[];
};
export function importsOf(root: string, path: string): string[];
