/** Where a person is signed in, and the end of it. */
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { endSession, listSessions, type Session } from "../../gen/console/identity_service.js";
import { call, Refusal } from "../api/client.ts";
import { ask, forget } from "../api/queries.ts";
import { meWords } from "../copy/en-me.ts";
import { clockTime } from "../format.ts";
import { Confirm } from "../parts/confirm.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { actionsColumn, RowActions } from "../parts/row-actions.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { deviceName } from "./device-name.ts";

const said = meWords.sessions;

export function Sessions(): ReactNode {
  const sessions = useQuery(ask(listSessions, {}));
  const hasOthers = sessions.data?.sessions.some(({ current }) => !current) === true;
  return (
    <section className="stack">
      <div className="card-head">
        <h2>{said.title}</h2>
        {hasOthers && <EndOthers />}
      </div>
      <p className="soft">{said.about}</p>
      <Loaded of={sessions} what={said.title} height={160}>
        {(answer) => (
          <Table
            label={said.title}
            columns={hasOthers ? [...COLUMNS, ACTIONS] : COLUMNS}
            rows={newestFirst(answer.sessions)}
            keyOf={({ id }) => id}
          />
        )}
      </Loaded>
    </section>
  );
}

/** The current one stands above the others. */
function newestFirst(sessions: readonly Session[]): readonly Session[] {
  const rank = ({ current, useTime }: Session): number => (current ? Infinity : (useTime?.getTime() ?? 0));
  return sessions.toSorted((one, other) => rank(other) - rank(one));
}

const COLUMNS: readonly Column<Session>[] = [
  {
    name: said.device,
    cell: ({ userAgent, current }) => (
      <>
        {deviceName(userAgent)} {current && <span className="tag good">{said.current}</span>}
      </>
    ),
  },
  { name: said.address, cell: ({ address }) => <code className="id">{address}</code> },
  { name: said.used, cell: ({ useTime }) => timeOf(useTime), isNumber: true },
  { name: said.since, cell: ({ createTime }) => timeOf(createTime), isNumber: true, isExtra: true },
  { name: said.expires, cell: ({ expireTime }) => timeOf(expireTime), isNumber: true, isExtra: true },
];

const ACTIONS = actionsColumn<Session>(said.actions, (session) =>
  session.current ? null : <EndOne session={session} />,
);

function timeOf(time: Date | undefined): string {
  return time === undefined ? "" : clockTime(time);
}

function EndOne({ session: { id, userAgent } }: { readonly session: Session }): ReactNode {
  const confirm = (close: () => void): ReactNode => (
    <Confirm
      title={said.endTitle}
      go={said.endGo}
      failed={said.endFailed}
      act={async () => {
        await end(id);
        await forget(listSessions);
      }}
      onClose={close}
    >
      <p>{said.endWill(deviceName(userAgent))}</p>
    </Confirm>
  );
  return <RowActions actions={[{ name: said.end, isDanger: true, opens: confirm }]} />;
}

function EndOthers(): ReactNode {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button className="button small danger" type="button" onClick={() => setOpen(true)}>
        {said.endOthers}
      </button>
      {isOpen && (
        <Confirm
          title={said.endOthersTitle}
          go={said.endOthersGo}
          failed={said.endOthersFailed}
          act={endOthers}
          onClose={() => setOpen(false)}
        >
          <p>{said.endOthersWill}</p>
        </Confirm>
      )}
    </>
  );
}

/** Those of now: one may have begun since the list was shown. */
async function endOthers(): Promise<void> {
  const { sessions } = await call(listSessions, {});
  try {
    await Promise.all(sessions.filter(({ current }) => !current).map(({ id }) => end(id)));
  } finally {
    await forget(listSessions);
  }
}

/** One that ended meanwhile is as it should be. */
async function end(id: string): Promise<void> {
  try {
    await call(endSession, { id });
  } catch (error) {
    if (!(error instanceof Refusal && error.reason === "RESOURCE_UNKNOWN")) throw error;
  }
}
