/** What `runner.mjs` offers, for TypeScript. */

export interface Need {
  readonly name: string;
  readonly probe?: readonly string[];
  readonly install?: readonly string[];
}

export interface Task {
  readonly command: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly needs?: readonly Need[];
}

export interface Part extends Task {
  readonly name: string;
  readonly about: string;
  readonly touches: readonly string[];
  readonly smoke: Task | string;
}

export interface Run {
  readonly root: string;
  readonly parts: readonly Part[];
  readonly say: (line: string) => void;
  readonly signal: AbortSignal;
}

export function prove(run: Run, how: { readonly again: boolean }): Promise<number>;
export function smoke(run: Run, bounds?: { readonly msMax?: number }): Promise<number>;
export function listParts(run: Omit<Run, "signal">): unknown;
