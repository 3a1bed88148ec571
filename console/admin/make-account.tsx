/** Opens an account with its first credit, its budgets and its limits. */
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, type ReactNode, useState } from "react";
import { createAccount, creditAccount, listAccounts, updateAccount } from "../../gen/console/account_service.js";
import { call } from "../api/client.ts";
import { forget } from "../api/queries.ts";
import { useAct } from "../api/use-act.ts";
import { words } from "../copy/en.ts";
import { admin } from "../copy/en-admin.ts";
import { planWords as say } from "../copy/en-plans.ts";
import { Dialog } from "../parts/dialog.tsx";
import { DialogFoot } from "../parts/dialog-foot.tsx";
import { Field } from "../parts/field.tsx";
import { useLargeAmounts } from "../parts/large-amounts.tsx";
import { LimitFields } from "../parts/limit-fields.tsx";
import { amountsOf, areRight, changedLimits, NO_LIMITS } from "../parts/limit-form.ts";
import { Problem } from "../parts/problem.tsx";
import { parseMoney, wrongMoney } from "../typed.ts";
import { PlanChoice } from "./plan-choice.tsx";

const FRESH = { id: "", name: "", plan: "", credit: "", ...NO_LIMITS };

export function MakeAccount({ onClose }: { readonly onClose: () => void }): ReactNode {
  const navigate = useNavigate();
  const [typed, setTyped] = useState(FRESH);
  const nanos = typed.credit.trim() === "" ? 0n : parseMoney(typed.credit);
  const large = useLargeAmounts([{ kind: "credit", nanos }, ...amountsOf(typed, NO_LIMITS)]);
  const make = useAct(
    async () => {
      const { id, name, plan } = typed;
      const { settings, mask } = changedLimits(NO_LIMITS, typed);
      await call(createAccount, { id, name, plan });
      if (mask !== "") await call(updateAccount, { id, settings, updateMask: mask });
      if (nanos) await call(creditAccount, { id, amountNanos: nanos, creditId: `first-${id}` });
      large.keep();
      await forget(listAccounts);
      return id;
    },
    // What comes next is for this account: its members and its keys.
    (id) =>
      void navigate({ to: "/admin/accounts/$id", params: { id }, search: (before) => ({ ...before, account: id }) }),
  );
  const isWrong = nanos === undefined || !areRight(typed) || large.isOpen;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (!isWrong) make.run();
  };
  const take = ({ currentTarget: { name, value } }: FormEvent<HTMLInputElement>): void =>
    setTyped({ ...typed, [name]: value });
  return (
    <Dialog title={admin.accounts.make} onClose={onClose} isFirm>
      <form className="stack" onSubmit={submit}>
        <Field
          label={words.account.id}
          hint={words.account.idRule}
          name="id"
          pattern="[a-z0-9_.\-]{1,64}"
          value={typed.id}
          onChange={take}
          autoFocus
          required
        />
        <Field label={words.account.name} name="name" maxLength={200} value={typed.name} onChange={take} />
        <Field
          label={words.account.credit}
          hint={words.account.creditRule}
          name="credit"
          inputMode="decimal"
          value={typed.credit}
          onChange={take}
          wrong={wrongMoney(typed.credit)}
        />
        <PlanChoice value={typed.plan} hint={say.chooseHint} onChoose={(plan) => setTyped({ ...typed, plan })} />
        <LimitFields typed={typed} onType={(changed) => setTyped({ ...typed, ...changed })} />
        {large.question}
        {make.error !== null && <Problem error={make.error} what={words.account.failed} />}
        <DialogFoot onCancel={onClose} disabled={make.isPending || isWrong}>
          {words.account.open}
        </DialogFoot>
      </form>
    </Dialog>
  );
}
