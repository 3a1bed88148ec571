/** What tests take of the worst answers. */
export interface WorstAnswer {
  readonly name: string;
  /** The upstream's. */
  readonly wire: string;
  readonly stream: boolean;
  readonly contentType: string;
  body(bytes?: number): Buffer;
}

export const WORST_ANSWERS: readonly WorstAnswer[];
