/** What `python.mjs` offers, for TypeScript. */

/** Minor versions of Python 3: from the first on, and below the second. */
export interface PythonRange {
  readonly from: number;
  readonly below: number;
}

export const PIP: readonly string[];
export const WHEELS: readonly string[];

export function pythonFor(range: PythonRange): string;
