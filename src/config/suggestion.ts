/** The hint that follows a mistyped name. */

/** Longer names are not compared: nobody mistypes them by a letter or two. */
const LENGTH_MAX = 64;
/** Of more names none is looked for: each is compared letter by letter. */
const NAMES_MAX = 500;

/** `; did you mean "x"?` for the nearest of the names, or nothing where none is near. */
export function suggest(typed: string, names: Iterable<string>): string {
  let nearest: string | undefined;
  const few = [...names].slice(0, NAMES_MAX + 1);
  if (few.length > NAMES_MAX) return "";
  let least = Math.max(1, Math.floor(typed.length / 3)) + 1;
  for (const name of few) {
    const distance = editDistance(typed.toLowerCase(), name.toLowerCase());
    if (distance < least) [least, nearest] = [distance, name];
  }
  return nearest === undefined ? "" : `; did you mean "${nearest}"?`;
}

/** How many letters to insert, delete, or replace to make one word of the other. */
function editDistance(one: string, other: string): number {
  if (one.length > LENGTH_MAX || other.length > LENGTH_MAX) return LENGTH_MAX;
  let above = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let row = 1; row <= one.length; row++) {
    const current = [row];
    for (let column = 1; column <= other.length; column++) {
      const replaced = (above[column - 1] ?? 0) + (one[row - 1] === other[column - 1] ? 0 : 1);
      current.push(Math.min(replaced, (above[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    above = current;
  }
  return above[other.length] ?? LENGTH_MAX;
}
