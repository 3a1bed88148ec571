/** A table of any length: only the rows in sight are drawn, and its head says how many there are. */
import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useLayoutEffect, useRef, useState, useSyncExternalStore } from "react";

const DRAWN_WHOLE_MAX = 80;
/** Until a row is measured: on a phone rows are higher, and long names take two lines. */
const ROW_PIXELS = 41;

export interface Column<Row> {
  readonly name: string;
  readonly cell: (row: Row) => ReactNode;
  /** Numbers stand at the right, with digits of one width. */
  readonly isNumber?: boolean;
  /** Left out where the window is narrow. */
  readonly isExtra?: boolean;
  /** Buttons stand at the right, and stay in sight where the table is wider than the window. */
  readonly isActions?: boolean;
}

export interface TableParts<Row> {
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** True where all rows are drawn at once, since they differ in height. A page that is printed draws all anyway. */
  readonly isWhole?: boolean;
}

export function Table<Row>({ label, columns, rows, keyOf, isWhole = false }: TableParts<Row>): ReactNode {
  const isPrinted = usePrinting();
  const isLong = !isWhole && !isPrinted && rows.length > DRAWN_WHOLE_MAX;
  return (
    <div className="table-scroll" role="region" aria-label={label} tabIndex={0}>
      <table aria-rowcount={rows.length + 1}>
        <caption className="hidden-text">{label}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.name} scope="col" className={classOf(column)}>
                {column.name}
              </th>
            ))}
          </tr>
        </thead>
        {isLong ? (
          <LongBody columns={columns} rows={rows} keyOf={keyOf} />
        ) : (
          <tbody>
            {rows.map((row) => (
              <Line key={keyOf(row)} row={row} columns={columns} />
            ))}
          </tbody>
        )}
      </table>
    </div>
  );
}

function LongBody<Row>({ columns, rows, keyOf }: Omit<TableParts<Row>, "label" | "isWhole">): ReactNode {
  const body = useRef<HTMLTableSectionElement>(null);
  const [top, setTop] = useState(0);
  useLayoutEffect(() => setTop((body.current?.getBoundingClientRect().top ?? 0) + window.scrollY), []);
  const virtual = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => ROW_PIXELS,
    overscan: 10,
    scrollMargin: top,
  });
  const items = virtual.getVirtualItems();
  const before = (items[0]?.start ?? top) - top;
  const after = virtual.getTotalSize() - ((items.at(-1)?.end ?? top) - top);
  return (
    <tbody ref={body}>
      <Gap pixels={before} span={columns.length} />
      {items.map(({ index }) => {
        const row = rows[index];
        if (row === undefined) return null;
        return <Line key={keyOf(row)} row={row} columns={columns} index={index} measure={virtual.measureElement} />;
      })}
      <Gap pixels={after} span={columns.length} />
    </tbody>
  );
}

/** True while the browser prints: paper has no rows out of sight. */
function usePrinting(): boolean {
  return useSyncExternalStore(onPrinting, isPrinting);
}

function onPrinting(tell: () => void): () => void {
  const media = window.matchMedia("print");
  media.addEventListener("change", tell);
  return () => media.removeEventListener("change", tell);
}

function isPrinting(): boolean {
  return window.matchMedia("print").matches;
}

function Gap({ pixels, span }: { readonly pixels: number; readonly span: number }): ReactNode {
  if (pixels <= 0) return null;
  return (
    <tr aria-hidden="true">
      <td colSpan={span} style={{ height: pixels, padding: 0, border: 0 }} />
    </tr>
  );
}

interface LineParts<Row> {
  readonly row: Row;
  readonly columns: readonly Column<Row>[];
  /** Of a table of which only some rows are drawn: the row's place, and what learns its height. */
  readonly index?: number;
  readonly measure?: (row: HTMLTableRowElement | null) => void;
}

function Line<Row>({ row, columns, index, measure }: LineParts<Row>): ReactNode {
  return (
    <tr aria-rowindex={index === undefined ? undefined : index + 2} data-index={index} ref={measure}>
      {columns.map((column) => (
        <td key={column.name} className={classOf(column)}>
          {column.cell(row)}
        </td>
      ))}
    </tr>
  );
}

function classOf<Row>({ isNumber = false, isExtra = false, isActions = false }: Column<Row>): string | undefined {
  const names = [isNumber ? "number" : "", isExtra ? "wide-only" : "", isActions ? "number actions" : ""].filter(
    Boolean,
  );
  return names.length > 0 ? names.join(" ") : undefined;
}
