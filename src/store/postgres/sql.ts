/** Statements for PostgreSQL, which have names under which a connection keeps their plans. */
import { hash } from "node:crypto";

/** A statement whose values come in order. */
export interface Sql {
  readonly text: string;
  /** The same text has the same name on every node. Empty where its plan is not worth keeping. */
  readonly name: string;
}

/** `$1` and so on, or `?` for one value after the other, as SQLite takes them. */
export function sql(text: string): Sql {
  let count = 0;
  return named(text.replaceAll("?", () => `$${(count += 1)}`));
}

/** A statement whose values have names, such as `:accountId`, as SQLite takes them. */
export interface NamedSql<Values> extends Sql {
  /** The values in the order of the statement. */
  valuesOf(values: Values): unknown[];
}

export function namedSql<Values extends object>(text: string): NamedSql<Values> {
  const names: string[] = [];
  // A colon within a text, as in the operator's accounts, or of a cast begins no name.
  const numbered = text.replaceAll(/(?<=[\s(,]):([a-z]\w*)/gi, (_, name: string) => {
    if (!names.includes(name)) names.push(name);
    return `$${names.indexOf(name) + 1}`;
  });
  return {
    ...named(numbered),
    valuesOf: (values) => {
      const all = new Map<string, unknown>(Object.entries(values));
      return names.map((name) => all.get(name));
    },
  };
}

function named(text: string): Sql {
  return { text, name: `tollgate_${hash("sha256", text).slice(0, 24)}` };
}
