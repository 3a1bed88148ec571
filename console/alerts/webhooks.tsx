/** The addresses to which events are posted. */
import { useMutation, useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import {
  deleteWebhook,
  listDeliveries,
  listWebhooks,
  testWebhook,
  updateWebhook,
  type Webhook,
} from "../../gen/console/webhook_service.js";
import { call } from "../api/client.ts";
import { ask, forget } from "../api/queries.ts";
import { alertWords } from "../copy/en-alerts.ts";
import { Confirm } from "../parts/confirm.tsx";
import { Empty } from "../parts/empty.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Problem } from "../parts/problem.tsx";
import { actionsColumn, RowActions } from "../parts/row-actions.tsx";
import { type Column, Table } from "../parts/table.tsx";
import type { Owner } from "./alerts.tsx";
import { MakeWebhook, RotateWebhook } from "./webhook-dialogs.tsx";

const WEBHOOKS_MAX = 1_000;

export function Webhooks({ owner }: { readonly owner: Owner }): ReactNode {
  const [isMaking, setMaking] = useState(false);
  const { account, mayChange } = owner;
  const webhooks = useQuery(ask(listWebhooks, { accountId: account, pageSize: WEBHOOKS_MAX }, account));
  const button = (
    <button className="button main" type="button" onClick={() => setMaking(true)}>
      {alertWords.makeWebhook}
    </button>
  );
  const actions = actionsColumn<Webhook>(alertWords.actions, (webhook) => (
    <Actions webhook={webhook} account={account} />
  ));
  return (
    <Loaded of={webhooks} what={alertWords.tabs.webhooks}>
      {(answer) => (
        <>
          {answer.webhooks.length === 0 ? (
            <Empty title={alertWords.noWebhooksTitle} about={alertWords.noWebhooksAbout}>
              {mayChange && button}
            </Empty>
          ) : (
            <>
              <p className="soft">{alertWords.webhookAbout}</p>
              {mayChange && <span>{button}</span>}
              <Table
                label={alertWords.tabs.webhooks}
                columns={mayChange ? [...COLUMNS, actions] : COLUMNS}
                rows={answer.webhooks}
                keyOf={({ id }) => id}
              />
            </>
          )}
          {isMaking && <MakeWebhook account={account} onClose={() => setMaking(false)} />}
        </>
      )}
    </Loaded>
  );
}

const COLUMNS: readonly Column<Webhook>[] = [
  { name: alertWords.name, cell: ({ id, settings }) => <strong>{settings?.name || id}</strong> },
  { name: alertWords.url, cell: ({ settings }) => <code className="id">{settings?.url}</code>, isExtra: true },
  {
    name: alertWords.state,
    cell: ({ settings }) =>
      settings?.paused === true ? (
        <span className="tag warn">{alertWords.paused}</span>
      ) : (
        <span className="tag good">{alertWords.active}</span>
      ),
  },
];

function Actions({ webhook, account }: { readonly webhook: Webhook; readonly account: string }): ReactNode {
  const { id, settings, etag } = webhook;
  const test = useMutation({
    mutationFn: () => call(testWebhook, { id }, { account }),
    onSuccess: () => forget(listDeliveries),
  });
  const isPaused = settings?.paused === true;
  const pause = useMutation({
    mutationFn: () =>
      call(updateWebhook, { id, settings: { paused: !isPaused }, updateMask: "paused", etag }, { account }),
    onSuccess: () => forget(listWebhooks),
  });
  const remove = (close: () => void): ReactNode => (
    <Confirm
      title={alertWords.removeWebhookTitle}
      go={alertWords.remove}
      failed={alertWords.removeWebhookFailed}
      act={async () => {
        await call(deleteWebhook, { id }, { account });
        await forget(listWebhooks);
      }}
      onClose={close}
    >
      <p>{alertWords.removeWebhookWill}</p>
    </Confirm>
  );
  return (
    <RowActions
      actions={[
        { name: alertWords.test, isBusy: test.isPending, act: () => test.mutate() },
        { name: isPaused ? alertWords.resume : alertWords.pause, isBusy: pause.isPending, act: () => pause.mutate() },
        { name: alertWords.rotate, opens: (close) => <RotateWebhook id={id} account={account} onClose={close} /> },
        { name: alertWords.remove, isDanger: true, opens: remove },
      ]}
    >
      {test.isSuccess && <small role="status">{alertWords.tested}</small>}
      {test.error !== null && <Problem error={test.error} what={alertWords.testFailed} />}
      {pause.error !== null && <Problem error={pause.error} what={alertWords.pauseFailed} />}
    </RowActions>
  );
}
