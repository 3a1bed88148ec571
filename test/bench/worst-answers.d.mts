/** What tests take of the worst answers. */
export const WORST_ANSWERS: readonly {
  readonly name: string;
  /** The upstream's. */
  readonly wire: string;
  readonly stream: boolean;
  readonly contentType: string;
  body(bytes?: number): Buffer;
}[];
