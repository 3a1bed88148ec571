/** What `evaluator.mjs` offers, for TypeScript. */

export interface Result {
  readonly files: readonly { readonly file: string; readonly failed: readonly string[] }[];
  readonly errors: readonly string[];
  readonly hung?: string;
}

export class Evaluator {
  constructor(settings: { readonly copy: string });
  run(mutant: number, files: readonly string[], limitMs: (file: string) => number): Promise<Result>;
  close(): Promise<void>;
}
