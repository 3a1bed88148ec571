/** Makes a key, and shows its secret this once, with code that uses it. */
import { useMutation } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useState } from "react";
import { createKey, listKeys } from "../../../gen/console/key_service.js";
import { call } from "../api/client.ts";
import { forget } from "../api/queries.ts";
import { keyWords } from "../copy/en-keys.ts";
import { Dialog } from "../parts/dialog.tsx";
import { DialogFoot } from "../parts/dialog-foot.tsx";
import { Problem } from "../parts/problem.tsx";
import { useSignedIn } from "../shell/session.ts";
import { Secret } from "./secret.tsx";
import { LimitFields, NameField, ScopeFields } from "./settings-fields.tsx";
import { FRESH, isRight, settingsOf } from "./settings-form.ts";

export function MakeKey({ onClose }: { readonly onClose: () => void }): ReactNode {
  const { account } = useSignedIn();
  const [typed, setTyped] = useState(FRESH);
  const make = useMutation({
    mutationFn: () => call(createKey, { accountId: account, settings: settingsOf(typed) }, { account }),
    onSuccess: () => forget(listKeys),
  });
  if (make.data !== undefined) return <Secret secret={make.data.secret} onClose={onClose} />;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (isRight(typed)) make.mutate();
  };
  return (
    <Dialog title={keyWords.make} onClose={onClose}>
      <form onSubmit={submit}>
        <NameField typed={typed} onType={setTyped} />
        <ScopeFields typed={typed} onType={setTyped} />
        <details className="more">
          <summary>{keyWords.optional}</summary>
          <LimitFields typed={typed} onType={setTyped} />
        </details>
        {make.error !== null && <Problem error={make.error} what={keyWords.makeFailed} />}
        <DialogFoot onCancel={onClose} disabled={make.isPending || !isRight(typed)}>
          {keyWords.makeGo}
        </DialogFoot>
      </form>
    </Dialog>
  );
}
