/** Globs over model names: `*` stands for any characters, all others for themselves. */

/** A name that is longer than any model's matches nothing, so that a long name costs nothing. */
export const MODEL_NAME_LENGTH_MAX = 512;

interface Glob {
  /** True where the pattern has no star: then `prefix` is the whole name. */
  readonly exact: boolean;
  readonly prefix: string;
  /** What must come between, in order. */
  readonly middle: readonly string[];
  readonly suffix: string;
}

/**
 * A set of globs. No regular expression is involved: each part is looked for once, from left to right, without going
 * back.
 */
export class GlobSet {
  readonly #globs: readonly Glob[];

  /** `ofAnyCase`: true where capitals make no difference, so that a denied name is denied in every spelling. */
  constructor(
    patterns: readonly string[],
    private readonly ofAnyCase = false,
  ) {
    this.#globs = patterns.map((pattern) => globOf(ofAnyCase ? pattern.toLowerCase() : pattern));
  }

  /** True where at least one of the globs matches the whole name. */
  matches(name: string): boolean {
    if (name.length > MODEL_NAME_LENGTH_MAX) return false;
    const spelled = this.ofAnyCase ? name.toLowerCase() : name;
    for (const glob of this.#globs) if (matchesGlob(glob, spelled)) return true;
    return false;
  }
}

function globOf(pattern: string): Glob {
  const parts = pattern.split("*");
  return {
    exact: parts.length === 1,
    prefix: parts[0] ?? "",
    middle: parts.slice(1, -1).filter((part) => part !== ""),
    suffix: parts.at(-1) ?? "",
  };
}

/**
 * The leftmost place of each part leaves the most room to the parts after it, so that it never has to be taken back.
 */
function matchesGlob(glob: Glob, name: string): boolean {
  if (glob.exact) return name === glob.prefix;
  const end = name.length - glob.suffix.length;
  let at = glob.prefix.length;
  if (end < at || !name.startsWith(glob.prefix) || !name.endsWith(glob.suffix)) return false;
  for (const part of glob.middle) {
    const found = name.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
    if (at > end) return false;
  }
  return true;
}
