/** What `sample.mjs` offers, for TypeScript. */
import type { Change } from "./operators.mjs";

export interface Mutant extends Change {
  readonly id: number;
  readonly key: string;
  readonly folder: string;
  readonly file: string;
  readonly line: number;
  readonly original: string;
}

export function mutantsOf(root: string, folders: readonly string[]): Mutant[];
export function sampleOf(mutants: readonly Mutant[], size: number, seed: number): Mutant[];
export function sameSample(
  mutants: readonly Mutant[],
  keys: readonly string[],
): { readonly sample: Mutant[]; readonly gone: string[] };
