/** What stands in place of an account: an operator opens the first one here, others learn whom to ask. */
import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, type ReactNode, useState } from "react";
import { createAccount, creditAccount, listAccounts } from "../../gen/console/account_service.js";
import { getSession } from "../../gen/console/identity_service.js";
import { call } from "../api/client.ts";
import { forget } from "../api/queries.ts";
import { words } from "../copy/en.ts";
import { Empty } from "../parts/empty.tsx";
import { Field } from "../parts/field.tsx";
import { useLargeAmounts } from "../parts/large-amounts.tsx";
import { Page } from "../parts/page.tsx";
import { Problem } from "../parts/problem.tsx";
import { useSignedIn } from "../shell/session.ts";
import { parseMoney, wrongMoney } from "../typed.ts";
import { LateFirstSteps } from "./late-first-steps.tsx";

export function FirstAccount(): ReactNode {
  const { isOperator } = useSignedIn();
  return (
    <Page title={words.pages.overview}>
      <LateFirstSteps />
      {isOperator ? <OpenAccount /> : <Empty title={words.account.noneTitle} about={words.account.noneAbout} />}
    </Page>
  );
}

function OpenAccount(): ReactNode {
  const navigate = useNavigate();
  const [credit, setCredit] = useState("");
  const nanos = credit.trim() === "" ? 0n : parseMoney(credit);
  const large = useLargeAmounts([{ kind: "credit", nanos }]);
  const open = useMutation({
    mutationFn: async ({ id, name }: { readonly id: string; readonly name: string }) => {
      await call(createAccount, { id, name });
      if (nanos) await call(creditAccount, { id, amountNanos: nanos, creditId: `first-${id}` });
      large.keep();
      return id;
    },
    onSuccess: async (account) => {
      // This stands on every page while there is no account, and another page may have been chosen meanwhile.
      await navigate({ to: ".", search: (before) => ({ ...before, account }) });
      await forget(getSession, listAccounts);
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    if (nanos !== undefined && !large.isOpen)
      open.mutate({ id: String(form.get("id")), name: String(form.get("name")) });
  };
  return (
    <Empty title={words.account.firstTitle} about={words.account.firstAbout}>
      <form className="stack" onSubmit={submit}>
        <Field label={words.account.id} hint={words.account.idRule} name="id" pattern="[a-z0-9_.\-]{1,64}" required />
        <Field label={words.account.name} name="name" maxLength={200} />
        <Field
          label={words.account.credit}
          hint={words.account.creditRule}
          inputMode="decimal"
          value={credit}
          onChange={(event) => setCredit(event.currentTarget.value)}
          wrong={wrongMoney(credit)}
        />
        {large.question}
        {open.error !== null && <Problem error={open.error} what={words.account.failed} />}
        <span>
          <button className="button main" type="submit" disabled={open.isPending || large.isOpen}>
            {words.account.open}
          </button>
        </span>
      </form>
    </Empty>
  );
}
