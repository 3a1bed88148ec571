/** Credits or debits an account, once for each reference. */
import { type FormEvent, type ReactNode, useState } from "react";
import { creditAccount, debitAccount, getBalance } from "../../gen/console/account_service.js";
import { call } from "../api/client.ts";
import { forget } from "../api/queries.ts";
import { useAct } from "../api/use-act.ts";
import { admin } from "../copy/en-admin.ts";
import { Dialog } from "../parts/dialog.tsx";
import { DialogFoot } from "../parts/dialog-foot.tsx";
import { Field } from "../parts/field.tsx";
import { useLargeAmounts } from "../parts/large-amounts.tsx";
import { Problem } from "../parts/problem.tsx";
import { parseMoney, wrongMoney } from "../typed.ts";

export interface MoveMoneyParts {
  readonly id: string;
  readonly kind: "credit" | "debit";
  readonly onClose: () => void;
}

export function MoveMoney({ id, kind, onClose }: MoveMoneyParts): ReactNode {
  const [amount, setAmount] = useState("");
  const amountNanos = parseMoney(amount);
  const large = useLargeAmounts([{ kind, nanos: amountNanos }]);
  const move = useAct(async ({ reference, reason }: { readonly reference: string; readonly reason: string }) => {
    if (amountNanos === undefined) return;
    if (kind === "credit") await call(creditAccount, { id, amountNanos, creditId: reference, reason });
    else await call(debitAccount, { id, amountNanos, debitId: reference, reason });
    large.keep();
    await forget(getBalance);
  }, onClose);
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    if (large.isOpen) return;
    const form = new FormData(event.currentTarget);
    move.run({ reference: String(form.get("reference")), reason: String(form.get("reason")) });
  };
  return (
    <Dialog title={kind === "credit" ? admin.accounts.creditTitle : admin.accounts.debitTitle} onClose={onClose}>
      <p className="soft">{kind === "credit" ? admin.accounts.creditWill : admin.accounts.debitWill}</p>
      <form onSubmit={submit}>
        <Field
          label={admin.accounts.amount}
          inputMode="decimal"
          value={amount}
          autoFocus
          required
          wrong={wrongMoney(amount)}
          onChange={({ currentTarget: { value } }) => setAmount(value)}
        />
        <Field
          label={admin.accounts.reference}
          hint={admin.accounts.referenceRule}
          name="reference"
          maxLength={128}
          required
        />
        <Field
          label={admin.accounts.reason}
          hint={admin.accounts.reasonRule}
          name="reason"
          maxLength={500}
          required={kind === "debit"}
        />
        {large.question}
        {move.error !== null && <Problem error={move.error} what={admin.accounts.failed} />}
        <DialogFoot onCancel={onClose} disabled={move.isPending || amountNanos === undefined || large.isOpen}>
          {kind === "credit" ? admin.accounts.credit : admin.accounts.debit}
        </DialogFoot>
      </form>
    </Dialog>
  );
}
