/** The nodes that serve one ledger together. */
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { listNodes, type Node } from "../../../gen/console/node_service.js";
import { ask } from "../api/queries.ts";
import { words } from "../copy/en.ts";
import { admin } from "../copy/en-admin.ts";
import { clockTime, count, milliseconds } from "../format.ts";
import { Page } from "../parts/page.tsx";
import { Problem } from "../parts/problem.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { Waiting } from "../parts/waiting.tsx";

const AGAIN_MS = 3_000;

export function Nodes(): ReactNode {
  const { data, error, refetch } = useQuery({ ...ask(listNodes, {}), refetchInterval: AGAIN_MS });
  return (
    <Page title={words.pages.nodes} about={admin.nodes.about}>
      {error !== null ? (
        <Problem error={error} what={words.errors.load(words.pages.nodes)} onAgain={() => void refetch()} />
      ) : data === undefined ? (
        <Waiting height={320} />
      ) : (
        <Table label={words.pages.nodes} columns={COLUMNS} rows={data.nodes} keyOf={({ id }) => id} />
      )}
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
