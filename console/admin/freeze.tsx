/** Freezes an account, with a reason that its people read. */
import { type FormEvent, type ReactNode } from "react";
import { freezeAccount, getAccount } from "../../gen/console/account_service.js";
import { call } from "../api/client.ts";
import { forget } from "../api/queries.ts";
import { useAct } from "../api/use-act.ts";
import { admin } from "../copy/en-admin.ts";
import { Dialog } from "../parts/dialog.tsx";
import { DialogFoot } from "../parts/dialog-foot.tsx";
import { Check, Field } from "../parts/field.tsx";
import { Problem } from "../parts/problem.tsx";

export function Freeze({ id, onClose }: { readonly id: string; readonly onClose: () => void }): ReactNode {
  const freeze = useAct(async (asked: { readonly reason: string; readonly endStreams: boolean }) => {
    await call(freezeAccount, { id, ...asked });
    await forget(getAccount);
  }, onClose);
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    freeze.run({ reason: String(form.get("reason")), endStreams: form.get("end") !== null });
  };
  return (
    <Dialog title={admin.accounts.freezeTitle} onClose={onClose}>
      <p>{admin.accounts.freezeWill}</p>
      <form onSubmit={submit}>
        <Field
          label={admin.accounts.reason}
          hint={admin.accounts.reasonRule}
          name="reason"
          maxLength={500}
          autoFocus
          required
        />
        <Check label={admin.accounts.endStreams} name="end" />
        {freeze.error !== null && <Problem error={freeze.error} what={admin.accounts.failed} />}
        <DialogFoot onCancel={onClose} disabled={freeze.isPending} danger>
          {admin.accounts.freeze}
        </DialogFoot>
      </form>
    </Dialog>
  );
}
