/** The fields of budgets and limits, of a key or an account. */
import type { ReactNode } from "react";
import { keyWords } from "../copy/en-keys.ts";
import { wrongMoney, wrongWhole } from "../typed.ts";
import { Field } from "./field.tsx";
import { AMOUNTS, COUNTS, type LimitName, type TypedLimits } from "./limit-form.ts";

export const LIMIT_NAMES: Readonly<Record<LimitName, string>> = {
  requestsPerMinute: keyWords.perMinute,
  tokensPerMinute: keyWords.tokensPerMinute,
  concurrency: keyWords.concurrency,
  budgetDayNanos: keyWords.budgetDay,
  budgetMonthNanos: keyWords.budgetMonth,
  budgetTotalNanos: keyWords.budgetTotal,
  requestCostMaxNanos: keyWords.requestMax,
};

export interface LimitFieldsParts {
  readonly typed: TypedLimits;
  readonly onType: (change: Partial<TypedLimits>) => void;
  /** More fields beside them. */
  readonly children?: ReactNode;
}

export function LimitFields({ typed, onType, children }: LimitFieldsParts): ReactNode {
  const field = (name: LimitName, wrong: string | undefined, inputMode: "decimal" | "numeric"): ReactNode => (
    <Field
      key={name}
      label={LIMIT_NAMES[name]}
      inputMode={inputMode}
      value={typed[name]}
      wrong={wrong}
      onChange={({ currentTarget: { value } }) => onType({ [name]: value })}
    />
  );
  return (
    <>
      <p className="soft">{keyWords.limitRule}</p>
      <div className="pairs">
        {AMOUNTS.map((name) => field(name, wrongMoney(typed[name]), "decimal"))}
        {COUNTS.map((name) => field(name, wrongWhole(typed[name]), "numeric"))}
        {children}
      </div>
    </>
  );
}
