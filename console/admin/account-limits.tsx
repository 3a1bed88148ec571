/** The budgets and limits of an account, which hold for all its keys together, and their change. */
import { type FormEvent, type ReactNode, useState } from "react";
import { type Account, getAccount, listAccounts, updateAccount } from "../../gen/console/account_service.js";
import { call } from "../api/client.ts";
import { forget } from "../api/queries.ts";
import { useAct } from "../api/use-act.ts";
import { words } from "../copy/en.ts";
import { admin } from "../copy/en-admin.ts";
import { count, money } from "../format.ts";
import { Dialog } from "../parts/dialog.tsx";
import { DialogFoot } from "../parts/dialog-foot.tsx";
import { useLargeAmounts } from "../parts/large-amounts.tsx";
import { LIMIT_NAMES, LimitFields } from "../parts/limit-fields.tsx";
import { AMOUNTS, amountsOf, areRight, changedLimits, COUNTS, NO_LIMITS, typedLimits } from "../parts/limit-form.ts";
import { Problem } from "../parts/problem.tsx";
import { useSignedIn } from "../shell/session.ts";

export function AccountLimits({ account }: { readonly account: Account }): ReactNode {
  const { isReader } = useSignedIn();
  const [isChanging, setChanging] = useState(false);
  const { settings } = account;
  const said = [
    ...AMOUNTS.map((name) => [name, settings?.[name] ?? 0n, money] as const),
    ...COUNTS.map((name) => [name, settings?.[name] ?? 0n, count] as const),
  ].filter(([, value]) => value > 0n);
  return (
    <section className="card stack">
      <div className="card-head">
        <h2>{admin.accounts.limits}</h2>
        {!isReader && (
          <button className="button" type="button" onClick={() => setChanging(true)}>
            {admin.accounts.changeLimits}
          </button>
        )}
      </div>
      {said.length === 0 ? (
        <p>{admin.accounts.noLimits}</p>
      ) : (
        <dl className="facts two">
          {said.map(([name, value, write]) => (
            <div key={name}>
              <dt>{LIMIT_NAMES[name]}</dt>
              <dd>{write(value)}</dd>
            </div>
          ))}
        </dl>
      )}
      {isChanging && <ChangeLimits account={account} onClose={() => setChanging(false)} />}
    </section>
  );
}

interface ChangeLimitsParts {
  readonly account: Account;
  readonly onClose: () => void;
}

function ChangeLimits({ account: { id, settings, etag }, onClose }: ChangeLimitsParts): ReactNode {
  const before = settings === undefined ? NO_LIMITS : typedLimits(settings);
  const [typed, setTyped] = useState(before);
  const large = useLargeAmounts(amountsOf(typed, before));
  const change = useAct(async () => {
    const { settings: changed, mask } = changedLimits(before, typed);
    if (mask === "") return;
    await call(updateAccount, { id, settings: changed, updateMask: mask, etag });
    large.keep();
    await forget(getAccount, listAccounts);
  }, onClose);
  const isWrong = !areRight(typed) || large.isOpen;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (!isWrong) change.run();
  };
  return (
    <Dialog title={admin.accounts.limits} onClose={onClose}>
      <form className="stack" onSubmit={submit}>
        <LimitFields typed={typed} onType={(changed) => setTyped({ ...typed, ...changed })} />
        {large.question}
        {change.error !== null && <Problem error={change.error} what={admin.accounts.failed} />}
        <DialogFoot onCancel={onClose} disabled={change.isPending || isWrong}>
          {words.form.save}
        </DialogFoot>
      </form>
    </Dialog>
  );
}
