/** What was sent to webhooks and by mail, what came back, and how it is sent again. */
import { useMutation, useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import {
  type Delivery,
  type DeliveryAttempt,
  getDelivery,
  listDeliveries,
  resendDelivery,
} from "../../gen/console/webhook_service.js";
import { call } from "../api/client.ts";
import { ask, forget } from "../api/queries.ts";
import { words } from "../copy/en.ts";
import { alertWords } from "../copy/en-alerts.ts";
import { clockTime, count, milliseconds } from "../format.ts";
import { ActButton } from "../parts/act-button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Empty } from "../parts/empty.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Pager } from "../parts/pager.tsx";
import { Problem } from "../parts/problem.tsx";
import { actionsColumn, RowActions } from "../parts/row-actions.tsx";
import { type Column, Table } from "../parts/table.tsx";
import type { Owner } from "./alerts.tsx";

const PAGE_SIZE = 100;
const AGAIN_MS = 3_000;
const LOOKS = { unspecified: "tag", waiting: "tag warn", delivered: "tag good", failed: "tag bad" } as const;

export interface DeliveriesParts {
  readonly owner: Owner;
  readonly page: string | undefined;
}

export function Deliveries({ owner, page }: DeliveriesParts): ReactNode {
  const { account } = owner;
  const asked = { accountId: account, pageSize: PAGE_SIZE, pageToken: page ?? "" };
  const deliveries = useQuery({
    ...ask(listDeliveries, asked, account),
    refetchInterval: ({ state }) =>
      state.data?.deliveries.some(({ state }) => state === "waiting") === true ? AGAIN_MS : false,
  });
  const look = actionsColumn<Delivery>(alertWords.actions, ({ id }) => (
    <RowActions
      actions={[{ name: alertWords.look, opens: (close) => <Opened id={id} owner={owner} onClose={close} /> }]}
    />
  ));
  return (
    <Loaded of={deliveries} what={alertWords.tabs.deliveries}>
      {(answer) =>
        answer.deliveries.length === 0 && page === undefined ? (
          <Empty title={alertWords.noDeliveriesTitle} about={alertWords.noDeliveriesAbout} />
        ) : (
          <>
            <Table
              label={alertWords.tabs.deliveries}
              columns={[...COLUMNS, look]}
              rows={answer.deliveries}
              keyOf={({ id }) => id}
            />
            <Pager page={page} next={answer.nextPageToken} first={alertWords.newest} more={alertWords.older} />
          </>
        )
      }
    </Loaded>
  );
}

const COLUMNS: readonly Column<Delivery>[] = [
  { name: alertWords.time, cell: ({ createTime }) => (createTime === undefined ? "" : clockTime(createTime)) },
  {
    name: alertWords.to,
    cell: ({ email, webhookId }) => email || <code className="id">{webhookId}</code>,
    isExtra: true,
  },
  { name: alertWords.event, cell: ({ eventId }) => <code className="id">{eventId}</code>, isExtra: true },
  {
    name: alertWords.state,
    cell: ({ state }) => <span className={LOOKS[state]}>{alertWords.states[state]}</span>,
  },
  { name: alertWords.attempts, cell: ({ attemptCount }) => count(attemptCount), isNumber: true, isExtra: true },
  {
    name: alertWords.next,
    cell: ({ nextAttemptTime }) => (nextAttemptTime === undefined ? "" : clockTime(nextAttemptTime)),
    isNumber: true,
    isExtra: true,
  },
];

interface OpenedParts {
  readonly id: string;
  readonly owner: Owner;
  readonly onClose: () => void;
}

function Opened({ id, owner: { account, mayChange }, onClose }: OpenedParts): ReactNode {
  const delivery = useQuery({ ...ask(getDelivery, { id }, account), refetchInterval: AGAIN_MS });
  const resend = useMutation({
    mutationFn: () => call(resendDelivery, { id }, { account }),
    onSuccess: () => forget(getDelivery, listDeliveries),
  });
  return (
    <Dialog title={alertWords.delivery} onClose={onClose}>
      <Loaded of={delivery} what={alertWords.delivery} height={120}>
        {({ delivery }) =>
          delivery === undefined || delivery.attempts.length === 0 ? (
            <p className="soft">{alertWords.noAttempts}</p>
          ) : (
            <Table
              label={alertWords.attempts}
              columns={ATTEMPTS}
              rows={delivery.attempts}
              keyOf={({ startTime }) => String(startTime?.getTime())}
            />
          )
        }
      </Loaded>
      {resend.isSuccess && <p role="status">{alertWords.resent}</p>}
      {resend.error !== null && <Problem error={resend.error} what={alertWords.resendFailed} />}
      <div className="foot">
        <button className="button" type="button" onClick={onClose}>
          {words.form.close}
        </button>
        {mayChange && (
          <ActButton className="button main" disabled={resend.isPending} onAct={() => resend.mutate()}>
            {alertWords.resend}
          </ActButton>
        )}
      </div>
    </Dialog>
  );
}

const ATTEMPTS: readonly Column<DeliveryAttempt>[] = [
  { name: alertWords.time, cell: ({ startTime }) => (startTime === undefined ? "" : clockTime(startTime)) },
  { name: alertWords.status, cell: ({ status }) => (status === 0 ? alertWords.noAnswer : status), isNumber: true },
  { name: alertWords.took, cell: ({ durationMs }) => milliseconds(durationMs), isNumber: true },
  { name: alertWords.problem, cell: ({ problem, answer }) => problem || answer },
];
