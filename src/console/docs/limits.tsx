/** The headers by which limits and cost are told. */
import type { ReactNode } from "react";
import { docs } from "../copy/en-docs.ts";
import { type Column, Table } from "../parts/table.tsx";

type Row = (typeof docs.headerRows)[number];

const COLUMNS: readonly Column<Row>[] = [
  { name: docs.header, cell: ([header]) => <code>{header}</code> },
  { name: docs.meaning, cell: ([, meaning]) => meaning },
];

export function Limits(): ReactNode {
  return (
    <>
      <p>{docs.limitsAbout}</p>
      <Table label={docs.pages.limits} columns={COLUMNS} rows={docs.headerRows} keyOf={([header]) => header} />
    </>
  );
}
