/** Makes a webhook, and gives one a new secret; both show the secret this once. */
import { useMutation } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { createWebhook, listWebhooks, rotateWebhookSecret } from "../../../gen/console/webhook_service.js";
import { call } from "../api/client.ts";
import { forget } from "../api/queries.ts";
import { alertWords } from "../copy/en-alerts.ts";
import { Dialog } from "../parts/dialog.tsx";
import { DialogFoot } from "../parts/dialog-foot.tsx";
import { Field } from "../parts/field.tsx";
import { Problem } from "../parts/problem.tsx";
import { ShownOnce } from "../parts/shown-once.tsx";

const GRACE_SECONDS = 86_400;

export interface MakeWebhookParts {
  readonly account: string;
  readonly onClose: () => void;
}

export function MakeWebhook({ account, onClose }: MakeWebhookParts): ReactNode {
  const make = useMutation({
    mutationFn: (settings: { readonly name: string; readonly url: string }) =>
      call(createWebhook, { accountId: account, settings }, { account }),
    onSuccess: () => forget(listWebhooks),
  });
  if (make.data !== undefined) return <SecretShown secret={make.data.secret} onClose={onClose} />;
  return (
    <Dialog title={alertWords.makeWebhookTitle} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const form = new FormData(event.currentTarget);
          make.mutate({ name: String(form.get("name")), url: String(form.get("url")) });
        }}
      >
        <Field label={alertWords.name} name="name" maxLength={200} autoFocus />
        <Field label={alertWords.url} name="url" type="url" hint={alertWords.urlRule} required />
        {make.error !== null && <Problem error={make.error} what={alertWords.makeWebhookFailed} />}
        <DialogFoot onCancel={onClose} disabled={make.isPending}>
          {alertWords.makeWebhookGo}
        </DialogFoot>
      </form>
    </Dialog>
  );
}

export function RotateWebhook({ id, account, onClose }: MakeWebhookParts & { readonly id: string }): ReactNode {
  const rotate = useMutation({
    mutationFn: () => call(rotateWebhookSecret, { id, graceSeconds: GRACE_SECONDS }, { account }),
    onSuccess: () => forget(listWebhooks),
  });
  if (rotate.data !== undefined) return <SecretShown secret={rotate.data.secret} onClose={onClose} />;
  return (
    <Dialog title={alertWords.rotateTitle} onClose={onClose}>
      <p>{alertWords.rotateWill}</p>
      {rotate.error !== null && <Problem error={rotate.error} what={alertWords.rotateFailed} />}
      <DialogFoot onCancel={onClose} disabled={rotate.isPending} onGo={() => rotate.mutate()}>
        {alertWords.rotate}
      </DialogFoot>
    </Dialog>
  );
}

function SecretShown({ secret, onClose }: { readonly secret: string; readonly onClose: () => void }): ReactNode {
  return (
    <ShownOnce
      title={alertWords.secretTitle}
      about={alertWords.secretOnce}
      text={secret}
      what={alertWords.secret}
      done={alertWords.done}
      onClose={onClose}
    />
  );
}
