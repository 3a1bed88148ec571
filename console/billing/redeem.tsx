/** Redeems a top-up code for the account. */
import { useMutation } from "@tanstack/react-query";
import type { FormEvent, ReactNode } from "react";
import { getBalance, getStatement } from "../../gen/console/account_service.js";
import { redeemTopUpCode, type RedeemTopUpCodeResponse } from "../../gen/console/payment_service.js";
import { call } from "../api/client.ts";
import { forget } from "../api/queries.ts";
import { words } from "../copy/en.ts";
import { billingWords } from "../copy/en-billing.ts";
import { Dialog } from "../parts/dialog.tsx";
import { DialogFoot } from "../parts/dialog-foot.tsx";
import { Field } from "../parts/field.tsx";
import { Money } from "../parts/money.tsx";
import { Problem } from "../parts/problem.tsx";
import { useSignedIn } from "../shell/session.ts";

export function Redeem({ onClose }: { readonly onClose: () => void }): ReactNode {
  const { account } = useSignedIn();
  const redeem = useMutation({
    mutationFn: (code: string) => call(redeemTopUpCode, { accountId: account, code }, { account }),
    onSuccess: () => forget(getBalance, getStatement),
  });
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    redeem.mutate(String(new FormData(event.currentTarget).get("code")));
  };
  if (redeem.data !== undefined) return <Redeemed answer={redeem.data} onClose={onClose} />;
  return (
    <Dialog title={billingWords.redeem} onClose={onClose}>
      <p className="soft">{billingWords.redeemAbout}</p>
      <form onSubmit={submit}>
        <Field
          label={billingWords.code}
          hint={billingWords.codeRule}
          name="code"
          maxLength={128}
          autoComplete="off"
          autoCapitalize="characters"
          spellCheck={false}
          autoFocus
          required
        />
        {redeem.error !== null && <Problem error={redeem.error} what={billingWords.redeemFailed} />}
        <DialogFoot onCancel={onClose} disabled={redeem.isPending}>
          {billingWords.redeemGo}
        </DialogFoot>
      </form>
    </Dialog>
  );
}

interface RedeemedParts {
  readonly answer: RedeemTopUpCodeResponse;
  readonly onClose: () => void;
}

function Redeemed({ answer, onClose }: RedeemedParts): ReactNode {
  const { amountNanos, availableNanos, repeatedRedeem } = answer;
  return (
    <Dialog title={billingWords.redeemed} onClose={onClose}>
      {repeatedRedeem && <p className="notice">{billingWords.repeated}</p>}
      <dl className="figures">
        <div>
          <dt>{billingWords.worth}</dt>
          <dd className="figure">
            <Money nanos={amountNanos} />
          </dd>
        </div>
        <div>
          <dt>{billingWords.now}</dt>
          <dd className="figure">
            <Money nanos={availableNanos} />
          </dd>
        </div>
      </dl>
      <div className="foot">
        <button className="button main" type="button" autoFocus onClick={onClose}>
          {words.form.close}
        </button>
      </div>
    </Dialog>
  );
}
