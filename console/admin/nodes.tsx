/** The nodes that serve one ledger together. */
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { listNodes, type Node } from "../../gen/console/node_service.js";
import { ask } from "../api/queries.ts";
import { words } from "../copy/en.ts";
import { admin } from "../copy/en-admin.ts";
import { clockTime, count, milliseconds } from "../format.ts";
import { Loaded } from "../parts/loaded.tsx";
import { Page } from "../parts/page.tsx";
import { type Column, Table } from "../parts/table.tsx";

const AGAIN_MS = 3_000;

export function Nodes(): ReactNode {
  const nodes = useQuery({ ...ask(listNodes, {}), refetchInterval: AGAIN_MS });
  return (
    <Page title={words.pages.nodes} about={admin.nodes.about}>
      <Loaded of={nodes} what={words.pages.nodes}>
        {(all) => <Table label={words.pages.nodes} columns={COLUMNS} rows={all.nodes} keyOf={({ id }) => id} />}
      </Loaded>
    </Page>
  );
}

const COLUMNS: readonly Column<Node>[] = [
  {
    name: admin.nodes.id,
    cell: ({ id, answering }) => (
      <>
        <code className="id">{id}</code> {answering && <span className="tag">{admin.nodes.answering}</span>}
      </>
    ),
  },
  { name: admin.nodes.version, cell: ({ version }) => version },
  {
    name: admin.nodes.started,
    cell: ({ startTime }) => (startTime === undefined ? "" : clockTime(startTime)),
    isExtra: true,
  },
  { name: admin.nodes.settings, cell: ({ settingsVersion }) => settingsVersion || admin.nodes.noFile, isExtra: true },
  {
    name: admin.nodes.addresses,
    cell: ({ httpAddress, grpcAddress }) => [httpAddress, grpcAddress].filter(Boolean).join(", "),
    isExtra: true,
  },
  { name: admin.nodes.models, cell: ({ modelCount }) => count(modelCount), isNumber: true, isExtra: true },
  { name: admin.nodes.beat, cell: ({ beatAgeMs }) => milliseconds(beatAgeMs), isNumber: true },
];
