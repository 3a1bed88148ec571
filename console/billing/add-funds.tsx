/** Begins a payment by card, and leads to Stripe's page. */
import { type FormEvent, type ReactNode, useState } from "react";
import { createCheckout, type PaymentOptions } from "../../gen/console/payment_service.js";
import { call } from "../api/client.ts";
import { useAct } from "../api/use-act.ts";
import { paymentWords } from "../copy/en-billing.ts";
import { money } from "../format.ts";
import { Dialog } from "../parts/dialog.tsx";
import { DialogFoot } from "../parts/dialog-foot.tsx";
import { Choice, Field } from "../parts/field.tsx";
import { useLargeAmounts } from "../parts/large-amounts.tsx";
import { Problem } from "../parts/problem.tsx";
import { useSignedIn } from "../shell/session.ts";
import { parseMoney, wrongMoney } from "../typed.ts";

const OTHER = "other";
const NANOS_PER_CENT = 10_000_000n;

interface AddFundsParts {
  readonly options: PaymentOptions;
  readonly onClose: () => void;
}

export function AddFunds({ options, onClose }: AddFundsParts): ReactNode {
  const { account } = useSignedIn();
  const { amountsNanos, amountMinNanos, amountMaxNanos } = options;
  const [chosen, setChosen] = useState(String(amountsNanos[0] ?? OTHER));
  const [typed, setTyped] = useState("");
  const amountNanos = chosen === OTHER ? parseMoney(typed) : BigInt(chosen);
  const large = useLargeAmounts(chosen === OTHER ? [{ kind: "card", nanos: amountNanos }] : []);
  const isRight =
    amountNanos !== undefined &&
    amountNanos >= amountMinNanos &&
    amountNanos <= amountMaxNanos &&
    amountNanos % NANOS_PER_CENT === 0n;
  const pay = useAct(
    () => call(createCheckout, { accountId: account, amountNanos: amountNanos ?? 0n }, { account }),
    ({ url }) => {
      large.keep();
      window.location.assign(url);
    },
  );
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (isRight && !large.isOpen) pay.run();
  };
  return (
    <Dialog title={paymentWords.add} onClose={onClose}>
      <p className="soft">{paymentWords.about}</p>
      <form onSubmit={submit}>
        <Choice
          label={paymentWords.choose}
          value={chosen}
          onChange={({ currentTarget: { value } }) => setChosen(value)}
          autoFocus
        >
          {amountsNanos.map((nanos) => (
            <option key={String(nanos)} value={String(nanos)}>
              {money(nanos)}
            </option>
          ))}
          <option value={OTHER}>{paymentWords.other}</option>
        </Choice>
        {chosen === OTHER && (
          <Field
            label={paymentWords.other}
            hint={paymentWords.otherRule(money(amountMinNanos), money(amountMaxNanos))}
            wrong={typed === "" || isRight ? undefined : (wrongMoney(typed) ?? paymentWords.otherWrong)}
            inputMode="decimal"
            value={typed}
            onChange={({ currentTarget: { value } }) => setTyped(value)}
            required
          />
        )}
        {large.question}
        {pay.isSuccess && <p role="status">{paymentWords.going}</p>}
        {pay.error !== null && <Problem error={pay.error} what={paymentWords.failed} />}
        <DialogFoot onCancel={onClose} disabled={pay.isPending || pay.isSuccess || !isRight || large.isOpen}>
          {paymentWords.go}
        </DialogFoot>
      </form>
    </Dialog>
  );
}
