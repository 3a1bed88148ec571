/** Takes a person out of an account's records, and forgets what was kept of what that person said. */
import { useMutation } from "@tanstack/react-query";
import type { FormEvent, ReactNode } from "react";
import { eraseEndUser } from "../../gen/console/usage_service.js";
import { call } from "../api/client.ts";
import { contentWords } from "../copy/en-content.ts";
import { Dialog } from "../parts/dialog.tsx";
import { DialogFoot } from "../parts/dialog-foot.tsx";
import { Field } from "../parts/field.tsx";
import { Problem } from "../parts/problem.tsx";

interface ErasePersonParts {
  readonly accountId: string;
  readonly onClose: () => void;
}

export function ErasePerson({ accountId, onClose }: ErasePersonParts): ReactNode {
  const erase = useMutation({ mutationFn: (endUser: string) => call(eraseEndUser, { accountId, endUser }) });
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    erase.mutate(String(new FormData(event.currentTarget).get("user")));
  };
  if (erase.data !== undefined)
    return (
      <Dialog title={contentWords.erase} onClose={onClose}>
        <p role="status">{contentWords.erased(Number(erase.data.requestCount), Number(erase.data.contentCount))}</p>
        <div className="foot">
          <button className="button main" type="button" autoFocus onClick={onClose}>
            {contentWords.done}
          </button>
        </div>
      </Dialog>
    );
  return (
    <Dialog title={contentWords.eraseTitle} onClose={onClose}>
      <p>{contentWords.eraseWill}</p>
      <form onSubmit={submit}>
        <Field label={contentWords.endUser} hint={contentWords.endUserRule} name="user" autoFocus required />
        {erase.error !== null && <Problem error={erase.error} what={contentWords.eraseFailed} />}
        <DialogFoot onCancel={onClose} disabled={erase.isPending} danger>
          {contentWords.eraseGo}
        </DialogFoot>
      </form>
    </Dialog>
  );
}
