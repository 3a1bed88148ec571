/** What is on an account, in figures. */
import type { ReactNode } from "react";
import type { GetBalanceResponse } from "../../gen/console/account_service.js";
import { billingWords } from "../copy/en-billing.ts";
import { Money } from "../parts/money.tsx";

export function BalanceFigures({ balance }: { readonly balance: GetBalanceResponse }): ReactNode {
  const figures = [
    [billingWords.available, balance.availableNanos],
    [billingWords.held, balance.heldNanos],
    [billingWords.spent, balance.spentNanos],
    [billingWords.granted, balance.grantedNanos],
  ] as const;
  return (
    <dl className="figures">
      {figures.map(([name, nanos]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd className="figure">
            <Money nanos={nanos} />
          </dd>
        </div>
      ))}
    </dl>
  );
}
