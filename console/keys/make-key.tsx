/** Makes a key, and shows its secret this once, with code that uses it. */
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useState } from "react";
import { getAccountPlan } from "../../gen/console/account_service.js";
import { createKey, listKeys } from "../../gen/console/key_service.js";
import { call } from "../api/client.ts";
import { ask, forget } from "../api/queries.ts";
import { useMaking } from "../api/use-act.ts";
import { keyWords } from "../copy/en-keys.ts";
import { Dialog } from "../parts/dialog.tsx";
import { DialogFoot } from "../parts/dialog-foot.tsx";
import { useLargeAmounts } from "../parts/large-amounts.tsx";
import { Problem } from "../parts/problem.tsx";
import { useSignedIn } from "../shell/session.ts";
import { Secret } from "./secret.tsx";
import { SettingFields, NameField, ScopeFields } from "./settings-fields.tsx";
import { amountsOf, areRight } from "../parts/limit-form.ts";
import { FRESH, settingsOf } from "./settings-form.ts";

export function MakeKey({ onClose }: { readonly onClose: () => void }): ReactNode {
  const { account } = useSignedIn();
  const [typed, setTyped] = useState(FRESH);
  // What the form does not need it does not wait for.
  const { plan } = useQuery(ask(getAccountPlan, { id: account }, account)).data ?? {};
  const large = useLargeAmounts(amountsOf(typed, FRESH));
  const make = useMaking(async () => {
    const made = await call(createKey, { accountId: account, settings: settingsOf(typed) }, { account });
    large.keep();
    void forget(listKeys);
    return made;
  }, onClose);
  if (make.data !== undefined)
    return <Secret secret={make.data.secret} settings={make.data.key?.settings} isNew onClose={onClose} />;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (areRight(typed) && !large.isOpen) make.run();
  };
  return (
    <Dialog title={keyWords.make} onClose={make.close}>
      <form onSubmit={submit}>
        <NameField typed={typed} onType={setTyped} />
        <ScopeFields typed={typed} onType={setTyped} />
        <details className="more">
          <summary>{keyWords.optional}</summary>
          <SettingFields typed={typed} onType={setTyped} plan={plan} />
        </details>
        {large.question}
        {make.error !== null && <Problem error={make.error} what={keyWords.makeFailed} />}
        <DialogFoot onCancel={make.close} disabled={make.isPending || !areRight(typed) || large.isOpen}>
          {keyWords.makeGo}
        </DialogFoot>
      </form>
    </Dialog>
  );
}
