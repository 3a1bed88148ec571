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
} from "../../../gen/console/webhook_service.js";
import { call } from "../api/client.ts";
import { ask, forget } from "../api/queries.ts";
import { alertWords } from "../copy/en-alerts.ts";
import { Confirm } from "../parts/confirm.tsx";
import { Empty } from "../parts/empty.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Problem } from "../parts/problem.tsx";
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
  const actions: Column<Webhook> = {
    name: alertWords.actions,
    cell: (webhook) => <Actions webhook={webhook} account={account} />,
    isNumber: true,
  };
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
    cell: ({ settings }) => (settings?.paused === true ? <span className="tag warn">{alertWords.paused}</span> : ""),
  },
];

function Actions({ webhook, account }: { readonly webhook: Webhook; readonly account: string }): ReactNode {
  const { id, settings, etag } = webhook;
  const [doing, setDoing] = useState<"rotate" | "remove">();
  const close = (): void => setDoing(undefined);
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
  return (
    <span className="stack">
      <span className="row end">
        <button className="button small" type="button" disabled={test.isPending} onClick={() => test.mutate()}>
          {alertWords.test}
        </button>
        <button className="button small" type="button" disabled={pause.isPending} onClick={() => pause.mutate()}>
          {isPaused ? alertWords.resume : alertWords.pause}
        </button>
        <button className="button small" type="button" onClick={() => setDoing("rotate")}>
          {alertWords.rotate}
        </button>
        <button className="button small danger" type="button" onClick={() => setDoing("remove")}>
          {alertWords.remove}
        </button>
      </span>
      {test.isSuccess && <small role="status">{alertWords.tested}</small>}
      {test.error !== null && <Problem error={test.error} what={alertWords.testFailed} />}
      {pause.error !== null && <Problem error={pause.error} what={alertWords.pauseFailed} />}
      {doing === "rotate" && <RotateWebhook id={id} account={account} onClose={close} />}
      {doing === "remove" && (
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
      )}
    </span>
  );
}
