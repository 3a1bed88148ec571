/** What can be done with a row of a table: a column of buttons, and the dialog that one of them opens. */
import { type ReactNode, useState } from "react";
import type { Column } from "./table.tsx";

export interface RowAction {
  readonly name: string;
  /** True where it takes something away. */
  readonly isDanger?: boolean;
  readonly isBusy?: boolean;
  /** What it does at once. */
  readonly act?: () => void;
  /** The dialog that it opens. */
  readonly opens?: (close: () => void) => ReactNode;
}

export interface RowActionsParts {
  readonly actions: readonly RowAction[];
  /** What came of one that was done at once. */
  readonly children?: ReactNode;
}

export function RowActions({ actions, children }: RowActionsParts): ReactNode {
  const [opened, setOpened] = useState<string>();
  const close = (): void => setOpened(undefined);
  return (
    <span className="stack">
      <span className="row end">
        {actions.map(({ name, isDanger = false, isBusy = false, act, opens }) => (
          <button
            key={name}
            className={isDanger ? "button small danger" : "button small"}
            type="button"
            disabled={isBusy}
            onClick={opens === undefined ? act : () => setOpened(name)}
          >
            {name}
          </button>
        ))}
      </span>
      {children}
      {actions.find(({ name }) => name === opened)?.opens?.(close)}
    </span>
  );
}

/** The last column of a table, at the right, in sight at any width. */
export function actionsColumn<Row>(name: string, cell: (row: Row) => ReactNode): Column<Row> {
  return { name, cell, isActions: true };
}
