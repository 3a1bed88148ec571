/**
 * What an event of a stream, or a member of one, brings to its client: so what it costs where no report tells. Each
 * wire has one table of all documented events, `events/kinds.ts`. What no table knows counts by its bytes.
 */

/**
 * `text`, `sound`, `picture` and `other` are content: the model made it, and it counts at the price of its kind;
 * `other` is a structure, which counts by its bytes. `holds`: it holds content, which has kinds of its own. `repeats`:
 * it says what came before once more, and what of it did not come before counts. `envelope`: it says who speaks, how
 * the answer goes or ends, what was used, or what a tool gave back; nothing that the model made.
 */
export type Kind = "text" | "sound" | "picture" | "other" | "holds" | "repeats" | "envelope";

export type KindTable = ReadonlyMap<string, Kind>;

const KINDS: readonly Kind[] = ["text", "sound", "picture", "other", "holds", "repeats", "envelope"];

/** A table of the names of each kind, between blanks; `prefix` stands before all of them. */
export function kindTable(rows: Readonly<Partial<Record<Kind, string>>>, prefix = ""): KindTable {
  const table = new Map<string, Kind>();
  for (const kind of KINDS) for (const name of rows[kind]?.trim().split(/\s+/) ?? []) table.set(prefix + name, kind);
  return table;
}
