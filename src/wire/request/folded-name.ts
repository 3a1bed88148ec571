/** Names of members that some upstream's decoder takes for one another, in one spelling. */
import { NAME_BYTES_MAX } from "../json/recent-names.js";

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

/** True of the byte of a small letter, which folds to itself. */
export function isPlainLetter(byte: number): boolean {
  return byte >= 0x61 && byte <= 0x7a;
}

const REMEMBERED_MAX = 256;

/** What `ask` says of a name, kept for the first short ones: agents' conversations have the same few all the time. */
export function remembered<Said>(ask: (name: string) => Said): (name: string) => Said {
  const said = new Map<string, Said>();
  return (name) => {
    const known = said.get(name);
    if (known !== undefined) return known;
    const answer = ask(name);
    if (said.size < REMEMBERED_MAX && name.length <= NAME_BYTES_MAX) said.set(name, answer);
    return answer;
  };
}
