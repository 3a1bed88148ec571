/** Names that an upstream wants unique within one request: one that is taken gets a number behind it. */

/** How the names of one kind may look. */
export interface UniqueNameRule {
  /** What stands before the number; left out, an underscore. */
  readonly separator?: string;
  /** The most characters of a name with its number; left out, there is no bound. */
  readonly charactersMax?: number;
  /** True where names that differ by their case alone are one to the upstream. */
  readonly ignoresCase?: boolean;
}

/**
 * The names of one request. They are claimed in the order of the conversation, so that a turn which is sent again
 * keeps its names, and the upstream's prompt cache goes on.
 */
export class UniqueNames {
  private readonly taken = new Set<string>();
  /** The number that was given last to a name, so that many equal names cost no search. */
  private readonly numbers = new Map<string, number>();

  /** `taken` are names that stand already. */
  constructor(
    private readonly rule: UniqueNameRule = {},
    taken: readonly string[] = [],
  ) {
    for (const name of taken) this.taken.add(this.keyOf(name));
  }

  /** The name, or the same with the first number that is free. */
  claim(name: string): string {
    const { separator = "_", charactersMax = Infinity } = this.rule;
    const key = this.keyOf(name);
    let claimed = name;
    let number = this.numbers.get(key) ?? 1;
    while (this.taken.has(this.keyOf(claimed))) {
      number += 1;
      const suffix = `${separator}${number}`;
      claimed = name.slice(0, Math.max(0, charactersMax - suffix.length)) + suffix;
    }
    if (number > 1) this.numbers.set(key, number);
    this.taken.add(this.keyOf(claimed));
    return claimed;
  }

  private keyOf(name: string): string {
    return this.rule.ignoresCase === true ? name.toLowerCase() : name;
  }
}
