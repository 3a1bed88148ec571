/** Names of members that hold an address, or the bytes that stand there: the table, and a cheap look at a name. */
import { nameIn } from "../json/recent-names.js";
import { foldedName, isPlainLetter, remembered } from "./folded-name.js";

/** Folded names that end so hold an address, from `image_url` to `fileUri`. */
const ADDRESS_ENDS = ["url", "urls", "uri", "uris"];
/** Members that hold an address, or the bytes themselves. */
const MEDIA: ReadonlySet<string> = new Set(
  ["image", "images", "video", "videos", "audio", "audios"].concat("imagedata", "videodata", "audiodata"),
);

export type Holds = "nothing" | "address" | "addressOrBytes";

/** What the member of this name holds. */
export const holdsOf = remembered((key): Holds => {
  const name = foldedName(key);
  if (MEDIA.has(name)) return "addressOrBytes";
  return ADDRESS_ENDS.some((end) => name.endsWith(end)) ? "address" : "nothing";
});

const LOWER = 0x20;
/** The last two letters of all these names. However a name is folded, a letter at its end stays there. */
const LAST_LETTERS: ReadonlySet<number> = new Set(
  [...ADDRESS_ENDS, ...MEDIA].map((name) => lastTwo(Buffer.from(name), name.length)),
);

function lastTwo(bytes: Buffer, end: number): number {
  return (((bytes[end - 2] ?? 0) | LOWER) << 8) | (bytes[end - 1] ?? 0) | LOWER;
}

/** False where no reader takes these bytes, in which nothing is escaped, for the name of a member that holds any. */
export function mayHoldAddress(bytes: Buffer, start: number, end: number): boolean {
  const letters = lastTwo(bytes, end);
  if (isPlainLetter(letters >> 8) && isPlainLetter(letters & 0xff) && !LAST_LETTERS.has(letters)) return false;
  return holdsOf(nameIn(bytes, start, end)) !== "nothing";
}
