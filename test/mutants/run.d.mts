/** What `run.mjs` offers, for TypeScript. */

export interface Tried {
  readonly key: string;
  readonly folder: string;
  readonly file: string;
  readonly line: number;
  readonly operator: string;
  readonly original: string;
  readonly text: string;
  readonly verdict: "killed" | "timeout" | "survived" | "unreached";
  readonly killers: readonly string[];
  readonly reaching: readonly string[];
  readonly ran: number;
  readonly seconds: number;
}

export interface Report {
  readonly seed: number;
  readonly seconds: number;
  readonly isWhole: boolean;
  readonly allKillers: boolean;
  readonly gone: readonly string[];
  readonly excluded: readonly { readonly file: string; readonly why: string }[];
  readonly mutants: readonly Tried[];
}

export interface Options {
  readonly root: string;
  readonly size: number;
  readonly seed: number;
  readonly workers: number;
  readonly budgetSeconds: number;
  readonly folders: readonly string[];
  readonly files: readonly string[];
  readonly isWhole: boolean;
  readonly allKillers: boolean;
  readonly keys?: readonly string[];
  readonly say: (line: string) => void;
}

export function runMutants(options: Options): Promise<Report>;
