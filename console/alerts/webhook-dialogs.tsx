/** Makes a webhook, and gives one a new secret; both show the secret this once. */
import type { ReactNode } from "react";
import { createWebhook, listWebhooks, rotateWebhookSecret } from "../../gen/console/webhook_service.js";
import { call } from "../api/client.ts";
import { forget } from "../api/queries.ts";
import { useMaking } from "../api/use-act.ts";
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
  const make = useMaking(async (settings: { readonly name: string; readonly url: string }) => {
    const { secret } = await call(createWebhook, { accountId: account, settings }, { account });
    void forget(listWebhooks);
    return secret;
  }, onClose);
  if (make.data !== undefined) return <SecretShown secret={make.data} onClose={onClose} />;
  return (
    <Dialog title={alertWords.makeWebhookTitle} onClose={make.close}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const form = new FormData(event.currentTarget);
          make.run({ name: String(form.get("name")), url: String(form.get("url")) });
        }}
      >
        <Field label={alertWords.name} name="name" maxLength={200} autoFocus />
        <Field label={alertWords.url} name="url" type="url" hint={alertWords.urlRule} required />
        {make.error !== null && <Problem error={make.error} what={alertWords.makeWebhookFailed} />}
        <DialogFoot onCancel={make.close} disabled={make.isPending}>
          {alertWords.makeWebhookGo}
        </DialogFoot>
      </form>
    </Dialog>
  );
}

export function RotateWebhook({ id, account, onClose }: MakeWebhookParts & { readonly id: string }): ReactNode {
  const rotate = useMaking(async () => {
    const { secret } = await call(rotateWebhookSecret, { id, graceSeconds: GRACE_SECONDS }, { account });
    void forget(listWebhooks);
    return secret;
  }, onClose);
  if (rotate.data !== undefined) return <SecretShown secret={rotate.data} onClose={onClose} />;
  return (
    <Dialog title={alertWords.rotateTitle} onClose={rotate.close}>
      <p>{alertWords.rotateWill}</p>
      {rotate.error !== null && <Problem error={rotate.error} what={alertWords.rotateFailed} />}
      <DialogFoot onCancel={rotate.close} disabled={rotate.isPending} onGo={() => rotate.run()}>
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
