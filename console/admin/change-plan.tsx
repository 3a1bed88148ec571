/** Gives an account another plan, or none. */
import { type FormEvent, type ReactNode, useState } from "react";
import {
  type Account,
  getAccount,
  getAccountPlan,
  listAccounts,
  setAccountPlan,
} from "../../gen/console/account_service.js";
import { call } from "../api/client.ts";
import { forget } from "../api/queries.ts";
import { useAct } from "../api/use-act.ts";
import { words } from "../copy/en.ts";
import { planWords as say } from "../copy/en-plans.ts";
import { Dialog } from "../parts/dialog.tsx";
import { DialogFoot } from "../parts/dialog-foot.tsx";
import { Check } from "../parts/field.tsx";
import { Problem } from "../parts/problem.tsx";
import { useSignedIn } from "../shell/session.ts";
import { PlanChoice } from "./plan-choice.tsx";

export function ChangePlan({ account }: { readonly account: Account }): ReactNode {
  const { isOperator } = useSignedIn();
  const [isOpen, setOpen] = useState(false);
  if (!isOperator) return null;
  return (
    <>
      <button className="button" type="button" onClick={() => setOpen(true)}>
        {say.change}
      </button>
      {isOpen && <Form account={account} onClose={() => setOpen(false)} />}
    </>
  );
}

interface FormParts {
  readonly account: Account;
  readonly onClose: () => void;
}

function Form({ account: { id, plan: before, etag }, onClose }: FormParts): ReactNode {
  const [plan, setPlan] = useState(before);
  const [copySettings, setCopy] = useState(false);
  const change = useAct(async () => {
    await call(setAccountPlan, { id, plan, copySettings: copySettings && plan !== "", etag });
    await forget(getAccount, getAccountPlan, listAccounts);
  }, onClose);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    change.run();
  };
  return (
    <Dialog title={say.change} onClose={onClose}>
      <form className="stack" onSubmit={submit}>
        <PlanChoice value={plan} onChoose={setPlan} />
        {plan !== "" && (
          <Check
            label={say.copy}
            hint={say.copyHint}
            checked={copySettings}
            onChange={({ currentTarget: { checked } }) => setCopy(checked)}
          />
        )}
        {change.error !== null && <Problem error={change.error} what={say.failed} />}
        <DialogFoot onCancel={onClose} disabled={change.isPending}>
          {words.form.save}
        </DialogFoot>
      </form>
    </Dialog>
  );
}
