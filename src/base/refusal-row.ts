/** The form of a row in the table of refusals: what all edges share of one. */

/** Facts of one refusal: what stands in ErrorInfo's metadata and fills the message. */
export type ErrorMetadata = Readonly<Record<string, string>>;

export interface Row {
  /** The HTTP status, by which wires choose their words too. */
  readonly http: number;
  /** True where the same request may succeed later. */
  readonly retry: boolean;
  /** One or two sentences: what is wrong, and what to do. */
  readonly say: (m: ErrorMetadata) => string;
}
