/** The settings in force, what was refused of them, and what decides: the file or the database. */
import { useMutation, useQuery, type UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { type AuditEvent, listAuditEvents } from "../../gen/console/audit_service.js";
import { listNodes, type Node } from "../../gen/console/node_service.js";
import { exportSettings, getSettings, type GetSettingsResponse } from "../../gen/console/settings_service.js";
import { call } from "../api/client.ts";
import { ask } from "../api/queries.ts";
import { words } from "../copy/en.ts";
import { admin } from "../copy/en-admin.ts";
import { settingsWords } from "../copy/en-settings.ts";
import { dateTime } from "../format.ts";
import { saveText } from "../parts/download.ts";
import { Loaded } from "../parts/loaded.tsx";
import { Page } from "../parts/page.tsx";
import { Problem } from "../parts/problem.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { SettingsFileSection } from "./settings-file.tsx";
import { NamedSettings } from "./settings-named.tsx";
import { changesIn, type FileChange, problemsIn } from "./settings-facts.ts";

const AGAIN_MS = 5_000;
const METHOD = "settings.apply";
/** The newest changes of the file, among which the last accepted and the last refused one are looked for. */
const CHANGES_MAX = 50;

export function SettingsPage(): ReactNode {
  const nodes = useQuery({ ...ask(listNodes, {}), refetchInterval: AGAIN_MS });
  const settings = useQuery(ask(getSettings, {}));
  const changes = useQuery(ask(listAuditEvents, { method: METHOD, pageSize: CHANGES_MAX }));
  const told = changes.data?.auditEvents ?? [];
  const lastAccepted = told.find(({ result }) => result === "done");
  const lastRefused = told.find(({ result }) => result === "refused");
  return (
    <Page title={words.pages.settings} about={admin.settings.about}>
      {changes.isPending || settings.isPending ? (
        <Waiting height={600} />
      ) : (
        <>
          {lastRefused !== undefined && <Refusal event={lastRefused} accepted={lastAccepted} />}
          <Loaded of={nodes} what={admin.settings.inForce} height={600}>
            {(answer) => (
              <>
                <section className="stack">
                  <h2>{admin.settings.inForce}</h2>
                  <Table label={admin.settings.inForce} columns={NODES} rows={answer.nodes} keyOf={({ id }) => id} />
                </section>
                <Settings of={settings} isOneOfMany={answer.nodes.length > 1} />
                <Export />
                {lastAccepted !== undefined && <Changed event={lastAccepted} />}
              </>
            )}
          </Loaded>
        </>
      )}
    </Page>
  );
}

interface SettingsParts {
  readonly of: UseQueryResult<GetSettingsResponse>;
  readonly isOneOfMany: boolean;
}

function Settings({ of, isOneOfMany }: SettingsParts): ReactNode {
  return (
    <>
      <Loaded of={of} what={words.pages.settings} height={400}>
        {({ file, named }) => (
          <>
            <SettingsFileSection file={file} isOneOfMany={isOneOfMany} />
            <section className="stack">
              <h2>{settingsWords.named}</h2>
              <NamedSettings named={named} />
            </section>
          </>
        )}
      </Loaded>
      <section className="stack">
        <h2>{admin.settings.holds}</h2>
        <Table label={admin.settings.holds} columns={HOLDS} rows={admin.settings.rows} keyOf={([what]) => what} />
      </section>
    </>
  );
}

/** What was made in the console, as a settings file. */
function Export(): ReactNode {
  const save = useMutation({
    mutationFn: async () => saveText((await call(exportSettings, {})).content, "tollgate-export.yaml", "text/yaml"),
  });
  return (
    <section className="stack">
      <h2>{settingsWords.exportTitle}</h2>
      <p className="soft">{settingsWords.exportAbout}</p>
      <span>
        <button className="button" type="button" disabled={save.isPending} onClick={() => save.mutate()}>
          {settingsWords.export}
        </button>
      </span>
      {save.error !== null && <Problem error={save.error} what={settingsWords.exportFailed} />}
    </section>
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
      fileVersion === "" && settingsVersion === "" ? (
        ""
      ) : settingsVersion === fileVersion ? (
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
