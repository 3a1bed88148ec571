/** What a scenario is: it prints its figures, and says what does not hold. */

export interface Run {
  /** One line of figures. */
  readonly say: (line: string) => void;
  /** Something that does not hold. The scenario goes on. */
  readonly fail: (problem: string) => void;
}

export interface Scenario {
  readonly name: string;
  /** What it proves, as the end of "it holds that ...". */
  readonly claim: string;
  /** How often its loop runs where nobody says: small, so that a check of each change can afford it. */
  readonly small: number;
  /** And where all is to be proved. */
  readonly full: number;
  /** True where nodes run in network namespaces. */
  readonly apart?: boolean;
  readonly run: (count: number, run: Run) => Promise<void>;
}
