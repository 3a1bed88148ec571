/** A statement for PostgreSQL, with the name under which a connection may keep its plan. */
import { hash } from "node:crypto";

export interface Sql {
  readonly text: string;
  /** The same text has the same name on every node. A statement that names no columns has none. */
  readonly name: string;
}

/** Columns are listed, never starred: a kept plan does not bear that another column comes. */
export function sql(text: string): Sql {
  return { text, name: `tollgate_${hash("sha256", text).slice(0, 24)}` };
}

/** `$1, $2, ...` for so many values, behind `before` others. */
export function parameters(count: number, before = 0): string {
  return Array.from({ length: count }, (_, index) => `$${before + index + 1}`).join(", ");
}
