/** What became of the payment that somebody comes back from: it is asked for a few times, until it is known. */
import { useQuery } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { type ReactNode, useEffect } from "react";
import { getBalance, getStatement } from "../../gen/console/account_service.js";
import { getPayment, listPayments, type PaymentState } from "../../gen/console/payment_service.js";
import { ask, forget } from "../api/queries.ts";
import { paymentWords } from "../copy/en-billing.ts";
import { money } from "../format.ts";
import { useSignedIn } from "../shell/session.ts";

const AGAIN_MS = 2_000;
const TIMES_MAX = 15;

export function Returned(): ReactNode {
  const { payment, cancelled } = useSearch({ from: "/billing" });
  if (payment === undefined) return null;
  if (cancelled !== undefined) return <p className="notice">{paymentWords.cancelled}</p>;
  return <Awaited id={payment} />;
}

function Awaited({ id }: { readonly id: string }): ReactNode {
  const { account } = useSignedIn();
  const { data } = useQuery({
    ...ask(getPayment, { id }, account),
    refetchInterval: ({ state }) =>
      isOnItsWay(state.data?.payment?.state) && state.dataUpdateCount < TIMES_MAX ? AGAIN_MS : false,
  });
  const state = data?.payment?.state;
  useEffect(() => {
    if (state === "paid") void forget(getBalance, getStatement, listPayments);
  }, [state]);
  if (state === undefined) return null;
  const [look, text] = toldOf(state, data?.payment?.creditedNanos ?? 0n);
  return (
    <p className={look} role="status">
      {text}
    </p>
  );
}

/** Who comes back has paid: what is still open is not told yet. */
function isOnItsWay(state: PaymentState | undefined): boolean {
  return state === "open" || state === "pending";
}

function toldOf(state: PaymentState, nanos: bigint): readonly [string, string] {
  if (state === "paid") return ["notice good", paymentWords.paid(money(nanos))];
  if (state === "stuck") return ["notice warn", paymentWords.stuck];
  return isOnItsWay(state) ? ["notice", paymentWords.pending] : ["notice bad", paymentWords.notPaid];
}
