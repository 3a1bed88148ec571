/** Names of members that some upstream's decoder takes for one another, in one spelling. */

/** Such a name folds to itself but for its underscores. Nearly all are so, and each member of a body is asked. */
const PLAIN = /^[a-z0-9_]*$/;

/**
 * What is left of a name where a reader does not mind its letters' case, as Go's does (whose Kelvin sign is a k, and
 * whose long s is an s), its underscores, as readers of two spellings do not, or what stands behind a zero.
 */
export function foldedName(name: string): string {
  if (PLAIN.test(name)) return name.includes("_") ? name.replaceAll("_", "") : name;
  const end = name.indexOf("\0");
  const seen = end === -1 ? name : name.slice(0, end);
  return seen
    .normalize("NFKC")
    .toUpperCase()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, "");
}
