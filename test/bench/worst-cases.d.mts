/** What tests in TypeScript take of the worst cases. */
export interface WorstCase {
  readonly name: string;
  readonly wire: string;
  readonly path: string;
  readonly body: (model: string, bytes?: number) => Buffer;
  readonly headers?: Record<string, string>;
}
export const WORST_BYTES_MAX: number;
export const WORST_CASES: readonly WorstCase[];
