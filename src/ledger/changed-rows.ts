/** The rows that a batch has changed, each once, in a list that leaves no garbage when it is emptied. */

/** A row knows whether it is in the list; only the list changes that. */
export interface ChangeableRow {
  changed?: boolean | undefined;
}

/** Not a Set: the tables of a Set that is filled and emptied with each commit keep each other alive. */
export class ChangedRows<Row extends ChangeableRow> implements Iterable<Row> {
  readonly #rows: Row[] = [];

  add(row: Row): void {
    if (row.changed === true) return;
    row.changed = true;
    this.#rows.push(row);
  }

  clear(): void {
    for (const row of this.#rows) row.changed = false;
    this.#rows.length = 0;
  }

  [Symbol.iterator](): Iterator<Row> {
    return this.#rows[Symbol.iterator]();
  }
}
