/** What `report.mjs` offers, for TypeScript. */
import type { Report, Tried } from "./run.mjs";

export function reportLines(report: Report): string[];
export function loneKillers(
  mutants: readonly Tried[],
): { readonly file: string; readonly reached: number; readonly killed: number; readonly alone: number }[];
export function comparedLines(before: Report, now: Report): { readonly lines: string[]; readonly isWorse: boolean };
