/** The rules by which the gateway tells of what happens. */
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { type Alert, deleteAlert, listAlerts } from "../../gen/console/alert_service.js";
import { call } from "../api/client.ts";
import { ask, forget } from "../api/queries.ts";
import { alertWords } from "../copy/en-alerts.ts";
import { Confirm } from "../parts/confirm.tsx";
import { Empty } from "../parts/empty.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { actionsColumn, RowActions } from "../parts/row-actions.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { AlertDialog } from "./alert-dialog.tsx";
import type { Owner } from "./alerts.tsx";
import { conditionOf } from "./condition.ts";

const RULES_MAX = 1_000;
const FIRING_SHOWN_MAX = 3;

export function Rules({ owner }: { readonly owner: Owner }): ReactNode {
  const [isMaking, setMaking] = useState(false);
  const { account, mayChange } = owner;
  const alerts = useQuery(ask(listAlerts, { accountId: account, pageSize: RULES_MAX }, account));
  const button = (
    <button className="button main" type="button" onClick={() => setMaking(true)}>
      {alertWords.make}
    </button>
  );
  return (
    <Loaded of={alerts} what={alertWords.tabs.rules}>
      {(answer) => (
        <>
          {answer.alerts.length === 0 ? (
            <Empty title={alertWords.emptyTitle} about={alertWords.emptyAbout}>
              {mayChange && button}
            </Empty>
          ) : (
            <>
              {mayChange && <span>{button}</span>}
              <Table
                label={alertWords.tabs.rules}
                columns={columnsOf(owner)}
                rows={answer.alerts}
                keyOf={({ id }) => id}
              />
            </>
          )}
          {isMaking && <AlertDialog owner={owner} onClose={() => setMaking(false)} />}
        </>
      )}
    </Loaded>
  );
}

function columnsOf(owner: Owner): readonly Column<Alert>[] {
  const whose: Column<Alert> = {
    name: alertWords.whose,
    cell: ({ accountId }) => accountId || alertWords.operators,
    isExtra: true,
  };
  const actions = actionsColumn<Alert>(alertWords.actions, (alert) => <Actions alert={alert} owner={owner} />);
  return [...COLUMNS, ...(owner.account === "" ? [whose] : []), ...(owner.mayChange ? [actions] : [])];
}

const COLUMNS: readonly Column<Alert>[] = [
  { name: alertWords.name, cell: ({ id, settings }) => <strong>{settings?.name || id}</strong> },
  { name: alertWords.kind, cell: ({ settings }) => (settings === undefined ? "" : conditionOf(settings)) },
  { name: alertWords.state, cell: (alert) => <Now alert={alert} /> },
];

function Now({ alert: { firing, settings } }: { readonly alert: Alert }): ReactNode {
  if (settings?.paused === true) return <span className="tag">{alertWords.paused}</span>;
  if (firing.length === 0) return <span className="tag good">{alertWords.quiet}</span>;
  const rest = firing.length - FIRING_SHOWN_MAX;
  return (
    <span className="tag bad">
      {alertWords.firing(firing.slice(0, FIRING_SHOWN_MAX).join(", "))}
      {rest > 0 && ` ${alertWords.more(rest)}`}
    </span>
  );
}

function Actions({ alert, owner }: { readonly alert: Alert; readonly owner: Owner }): ReactNode {
  if (alert.createTime === undefined)
    return (
      <span className="tag" title={alertWords.inFileRule}>
        {alertWords.inFile}
      </span>
    );
  const remove = (close: () => void): ReactNode => (
    <Confirm
      title={alertWords.removeTitle}
      go={alertWords.remove}
      failed={alertWords.removeFailed}
      act={async () => {
        await call(deleteAlert, { id: alert.id }, { account: owner.account });
        await forget(listAlerts);
      }}
      onClose={close}
    >
      <p>{alertWords.removeWill}</p>
    </Confirm>
  );
  return (
    <RowActions
      actions={[
        {
          name: alertWords.change,
          opens: (close) => <AlertDialog owner={owner} alert={alert} onClose={close} />,
        },
        { name: alertWords.remove, isDanger: true, opens: remove },
      ]}
    />
  );
}
