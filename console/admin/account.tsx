/** One account as its operator sees it: its balance, and what only an operator does. */
import { useMutation, useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import {
  type Account,
  type AccountPlan,
  getAccount,
  getAccountPlan,
  getBalance,
  type GetBalanceResponse,
  unfreezeAccount,
} from "../../gen/console/account_service.js";
import { PlanFacts } from "../account/plan-facts.tsx";
import { AccountSecurity } from "../account/security.tsx";
import { call } from "../api/client.ts";
import { ask, forget } from "../api/queries.ts";
import { BalanceFigures } from "../billing/balance-figures.tsx";
import { words } from "../copy/en.ts";
import { admin } from "../copy/en-admin.ts";
import { AllLoaded } from "../parts/loaded.tsx";
import { Page } from "../parts/page.tsx";
import { Problem } from "../parts/problem.tsx";
import { useSignedIn } from "../shell/session.ts";
import { AccountLimits } from "./account-limits.tsx";
import { ChangePlan } from "./change-plan.tsx";
import { ContentSetting } from "./content.tsx";
import { Freeze } from "./freeze.tsx";
import { MoveMoney } from "./move-money.tsx";

export function AccountPage(): ReactNode {
  const { id } = useParams({ from: "/admin/accounts/$id" });
  const { account: entered } = useSignedIn();
  // The account menu shows the account that is entered: one answer serves both.
  const account = useQuery(ask(getAccount, { id }, id === entered ? id : ""));
  const balance = useQuery(ask(getBalance, { id }));
  const plan = useQuery(ask(getAccountPlan, { id }));
  return (
    <AllLoaded of={[account, balance, plan]} what={id}>
      {(answer, has, of) =>
        answer.account !== undefined && <Shown account={answer.account} balance={has} plan={of.plan} />
      }
    </AllLoaded>
  );
}

interface ShownParts {
  readonly account: Account;
  readonly balance: GetBalanceResponse;
  readonly plan: AccountPlan | undefined;
}

function Shown({ account, balance, plan }: ShownParts): ReactNode {
  const { id, name, freeze, managed } = account;
  return (
    <Page
      title={name || id}
      about={<Link to="/admin/accounts">← {admin.accounts.back}</Link>}
      actions={<Actions account={account} />}
    >
      {freeze !== undefined && <p className="notice warn">{words.account.frozen(freeze.reason)}</p>}
      {managed && <p className="notice">{words.account.managed}</p>}
      <BalanceFigures balance={balance} />
      <PlanFacts plan={plan}>
        <ChangePlan account={account} />
      </PlanFacts>
      <AccountLimits account={account} plan={plan} />
      <ContentSetting account={account} plan={plan} />
      <AccountSecurity accountId={id} />
    </Page>
  );
}

function Actions({ account: { id, freeze } }: { readonly account: Account }): ReactNode {
  const { isReader } = useSignedIn();
  const [doing, setDoing] = useState<"credit" | "debit" | "freeze">();
  const close = (): void => setDoing(undefined);
  const lift = useMutation({
    mutationFn: () => call(unfreezeAccount, { id }),
    onSuccess: () => forget(getAccount),
  });
  return (
    <>
      <Link to="/" search={{ account: id }} className="button">
        {admin.accounts.enter}
      </Link>
      {!isReader && (
        <>
          <button className="button" type="button" onClick={() => setDoing("credit")}>
            {admin.accounts.credit}
          </button>
          <button className="button" type="button" onClick={() => setDoing("debit")}>
            {admin.accounts.debit}
          </button>
          {freeze === undefined ? (
            <button className="button danger" type="button" onClick={() => setDoing("freeze")}>
              {admin.accounts.freeze}
            </button>
          ) : (
            <button className="button" type="button" disabled={lift.isPending} onClick={() => lift.mutate()}>
              {admin.accounts.unfreeze}
            </button>
          )}
        </>
      )}
      {lift.error !== null && <Problem error={lift.error} what={admin.accounts.failed} />}
      {(doing === "credit" || doing === "debit") && <MoveMoney id={id} kind={doing} onClose={close} />}
      {doing === "freeze" && <Freeze id={id} onClose={close} />}
    </>
  );
}
