/** The budgets and limits of an account, which hold for all its keys together, and their change. */
import { type FormEvent, type ReactNode, useState } from "react";
import {
  type Account,
  type AccountPlan,
  getAccount,
  listAccounts,
  updateAccount,
} from "../../gen/console/account_service.js";
import { call } from "../api/client.ts";
import { forget } from "../api/queries.ts";
import { useAct } from "../api/use-act.ts";
import { words } from "../copy/en.ts";
import { admin } from "../copy/en-admin.ts";
import { planWords } from "../copy/en-plans.ts";
import { count, money } from "../format.ts";
import { limitWords } from "../keys/limit-words.ts";
import { Dialog } from "../parts/dialog.tsx";
import { DialogFoot } from "../parts/dialog-foot.tsx";
import { useLargeAmounts } from "../parts/large-amounts.tsx";
import { LIMIT_NAMES, LimitFields, limitHints } from "../parts/limit-fields.tsx";
import { AMOUNTS, amountsOf, areRight, changedLimits, COUNTS, NO_LIMITS, typedLimits } from "../parts/limit-form.ts";
import { areRightModels, ModelLimitFields, modelLimitsOf, typedModelLimits } from "../parts/model-limit-fields.tsx";
import { Problem } from "../parts/problem.tsx";
import { useMayChange } from "../account/may-change.ts";
import { useSignedIn } from "../shell/session.ts";

export interface AccountLimitsParts {
  readonly account: Account;
  /** What its owners and admins may set at most. */
  readonly plan: AccountPlan | undefined;
}

export function AccountLimits({ account, plan }: AccountLimitsParts): ReactNode {
  const mayChange = useMayChange(plan);
  const [isChanging, setChanging] = useState(false);
  const { settings } = account;
  const said = [
    ...AMOUNTS.map((name) => [name, settings?.[name] ?? 0n, money] as const),
    ...COUNTS.map((name) => [name, settings?.[name] ?? 0n, count] as const),
  ].filter(([, value]) => value > 0n);
  const models = settings?.modelLimits ?? [];
  return (
    <section className="card stack">
      <div className="card-head">
        <h2>{admin.accounts.limits}</h2>
        {mayChange && (
          <button className="button" type="button" onClick={() => setChanging(true)}>
            {admin.accounts.changeLimits}
          </button>
        )}
      </div>
      {said.length + models.length === 0 ? (
        <p>{admin.accounts.noLimits}</p>
      ) : (
        <dl className="facts two">
          {said.map(([name, value, write]) => (
            <div key={name}>
              <dt>{LIMIT_NAMES[name]}</dt>
              <dd>{write(value)}</dd>
            </div>
          ))}
          {models.map(({ model, ...limits }) => (
            <div key={model}>
              <dt>
                <code>{model}</code>
              </dt>
              <dd>{limitWords(limits).join(", ") || words.form.noLimit}</dd>
            </div>
          ))}
        </dl>
      )}
      {isChanging && <ChangeLimits account={account} plan={plan} onClose={() => setChanging(false)} />}
    </section>
  );
}

interface ChangeLimitsParts extends AccountLimitsParts {
  readonly onClose: () => void;
}

function ChangeLimits({ account: { id, settings, etag }, plan, onClose }: ChangeLimitsParts): ReactNode {
  const { account, isOperator } = useSignedIn();
  const [models, setModels] = useState(() => typedModelLimits(settings?.modelLimits ?? []));
  const [isOtherModels, setOtherModels] = useState(false);
  const before = settings === undefined ? NO_LIMITS : typedLimits(settings);
  const [typed, setTyped] = useState(before);
  const large = useLargeAmounts(amountsOf(typed, before));
  const change = useAct(async () => {
    const { settings: changed, mask } = changedLimits(before, typed);
    const names = [mask, isOtherModels ? "model_limits" : ""].filter((name) => name !== "").join(",");
    if (names === "") return;
    const limits = { ...changed, modelLimits: modelLimitsOf(models) };
    await call(updateAccount, { id, settings: limits, updateMask: names, etag }, { account });
    large.keep();
    await forget(getAccount, listAccounts);
  }, onClose);
  const isWrong = !areRight(typed) || !areRightModels(models) || large.isOpen;
  const hints = isOperator ? undefined : limitHints(plan?.account, planWords.atMost);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (!isWrong) change.run();
  };
  return (
    <Dialog title={admin.accounts.limits} onClose={onClose}>
      <form className="stack" onSubmit={submit}>
        <LimitFields typed={typed} hints={hints} onType={(changed) => setTyped({ ...typed, ...changed })} />
        <ModelLimitFields
          typed={models}
          onType={(changed) => {
            setModels(changed);
            setOtherModels(true);
          }}
        />
        {large.question}
        {change.error !== null && <Problem error={change.error} what={admin.accounts.failed} />}
        <DialogFoot onCancel={onClose} disabled={change.isPending || isWrong}>
          {words.form.save}
        </DialogFoot>
      </form>
    </Dialog>
  );
}
