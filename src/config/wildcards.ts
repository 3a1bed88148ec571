/** Models that stand for all names with one beginning, such as `openai/*`. */

/** True for a name that ends with a star. */
export function isWildcard(name: string): boolean {
  return name.endsWith("*");
}

/** What the star of a wildcard stands for in a name, whose beginning may have other capitals; undefined for others. */
export function starIn(wildcard: string, name: string): string | undefined {
  const length = wildcard.length - 1;
  if (!isWildcard(wildcard) || name.length <= length) return undefined;
  const isSame = name.slice(0, length).toLowerCase() === wildcard.slice(0, length).toLowerCase();
  return isSame ? name.slice(length) : undefined;
}

/** A name with a text in the place of its star. */
export function withStar(name: string, star: string): string {
  return name.replace("*", () => star);
}

/** True where names, some of them wildcards, have a model. */
export function hasModel(names: Iterable<string>, model: string): boolean {
  for (const name of names) if (name === model || starIn(name, model) !== undefined) return true;
  return false;
}
