/** The settings in force, what was refused of them, and what decides: the file or the database. */
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { type AuditEvent, listAuditEvents } from "../../../gen/console/audit_service.js";
import { listNodes, type Node } from "../../../gen/console/node_service.js";
import { ask } from "../api/queries.ts";
import { words } from "../copy/en.ts";
import { admin } from "../copy/en-admin.ts";
import { dateTime } from "../format.ts";
import { Loaded } from "../parts/loaded.tsx";
import { Page } from "../parts/page.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { changesIn, type FileChange, problemsIn } from "./settings-facts.ts";

const AGAIN_MS = 5_000;
const METHOD = "settings.apply";

export function SettingsPage(): ReactNode {
  const nodes = useQuery({ ...ask(listNodes, {}), refetchInterval: AGAIN_MS });
  const accepted = useQuery(ask(listAuditEvents, { method: METHOD, result: "done", pageSize: 1 }));
  const refused = useQuery(ask(listAuditEvents, { method: METHOD, result: "refused", pageSize: 1 }));
  const [lastAccepted] = accepted.data?.auditEvents ?? [];
  const [lastRefused] = refused.data?.auditEvents ?? [];
  return (
    <Page title={words.pages.settings} about={admin.settings.about}>
      {lastRefused !== undefined && <Refusal event={lastRefused} accepted={lastAccepted} />}
      <section className="stack">
        <h2>{admin.settings.inForce}</h2>
        <Loaded of={nodes} what={admin.settings.inForce} height={90}>
          {(answer) => (
            <Table label={admin.settings.inForce} columns={NODES} rows={answer.nodes} keyOf={({ id }) => id} />
          )}
        </Loaded>
      </section>
      {lastAccepted !== undefined && <Changed event={lastAccepted} />}
      <section className="stack">
        <h2>{admin.settings.holds}</h2>
        <Table label={admin.settings.holds} columns={HOLDS} rows={admin.settings.rows} keyOf={([what]) => what} />
      </section>
    </Page>
  );
}

const NODES: readonly Column<Node>[] = [
  { name: admin.nodes.id, cell: ({ id }) => <code className="id">{id}</code> },
  {
    name: admin.settings.version,
    cell: ({ settingsVersion }) =>
      settingsVersion === "" ? admin.settings.noFile : <code className="id">{settingsVersion}</code>,
  },
  {
    name: admin.settings.accepted,
    cell: ({ settingsAcceptTime }) => (settingsAcceptTime === undefined ? "" : dateTime(settingsAcceptTime)),
    isExtra: true,
  },
  {
    name: admin.settings.file,
    cell: ({ settingsVersion, fileVersion }) =>
      settingsVersion === fileVersion ? (
        <span className="tag good">{admin.settings.sameFile}</span>
      ) : (
        <span className="tag warn">{admin.settings.otherFile(fileVersion)}</span>
      ),
  },
];

type Row = (typeof admin.settings.rows)[number];

const HOLDS: readonly Column<Row>[] = [
  { name: admin.settings.what, cell: ([what]) => <strong>{what}</strong> },
  { name: admin.settings.stands, cell: ([, stands]) => stands },
  { name: admin.settings.why, cell: ([, , why]) => why, isExtra: true },
];

interface RefusalParts {
  readonly event: AuditEvent;
  readonly accepted: AuditEvent | undefined;
}

/** What was refused last: in bad colours while nothing was accepted since. */
function Refusal({ event, accepted }: RefusalParts): ReactNode {
  const isNewest = accepted === undefined || accepted.sequence < event.sequence;
  return (
    <div className={isNewest ? "notice bad stack" : "notice stack"} role={isNewest ? "alert" : undefined}>
      <strong>{isNewest ? admin.settings.refusedTitle : admin.settings.refusedBefore}</strong>
      {event.time !== undefined && <span className="soft">{dateTime(event.time)}</span>}
      <ul>
        {problemsIn(event.after).map((problem) => (
          <li key={problem}>
            <code>{problem}</code>
          </li>
        ))}
      </ul>
      {isNewest && <span>{admin.settings.refusedAbout}</span>}
    </div>
  );
}

/** What the last accepted change of the file changed; the whole file at the first start. */
function Changed({ event }: { readonly event: AuditEvent }): ReactNode {
  return (
    <section className="stack">
      <h2>{admin.settings.changed}</h2>
      <Table
        label={admin.settings.changed}
        columns={CHANGES}
        rows={changesIn(event.before, event.after)}
        keyOf={({ name }) => name}
      />
    </section>
  );
}

const CHANGES: readonly Column<FileChange>[] = [
  { name: admin.settings.what, cell: ({ name }) => <strong>{admin.settings.names[name] ?? name}</strong> },
  { name: admin.settings.before, cell: ({ before }) => before },
  { name: admin.settings.after, cell: ({ after }) => after },
];
