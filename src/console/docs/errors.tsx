/** What the gateway refuses, with which status, and what to do. */
import type { ReactNode } from "react";
import { docs } from "../copy/en-docs.ts";
import { type Column, Table } from "../parts/table.tsx";

type Row = (typeof docs.errorRows)[number];

const COLUMNS: readonly Column<Row>[] = [
  { name: docs.status, cell: ([status]) => status },
  { name: docs.when, cell: ([, when]) => when },
  { name: docs.todo, cell: ([, , todo]) => todo },
];

export function Errors(): ReactNode {
  return (
    <>
      <p>{docs.errorsAbout}</p>
      <Table
        label={docs.pages.errors}
        columns={COLUMNS}
        rows={docs.errorRows}
        keyOf={([status, when]) => status + when}
      />
    </>
  );
}
