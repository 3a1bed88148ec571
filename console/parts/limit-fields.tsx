/** The fields of budgets and limits, of a key or an account. */
import type { ReactNode } from "react";
import { keyWords } from "../copy/en-keys.ts";
import { count, money } from "../format.ts";
import { wrongMoney, wrongWhole } from "../typed.ts";
import { Field } from "./field.tsx";
import { AMOUNTS, COUNTS, type LimitName, type Limits, type TypedLimits } from "./limit-form.ts";

export const LIMIT_NAMES: Readonly<Record<LimitName, string>> = {
  requestsPerMinute: keyWords.perMinute,
  tokensPerMinute: keyWords.tokensPerMinute,
  concurrency: keyWords.concurrency,
  budgetDayNanos: keyWords.budgetDay,
  budgetWeekNanos: keyWords.budgetWeek,
  budgetMonthNanos: keyWords.budgetMonth,
  budgetQuarterNanos: keyWords.budgetQuarter,
  budgetTotalNanos: keyWords.budgetTotal,
  requestCostMaxNanos: keyWords.requestMax,
};

export type LimitHints = Readonly<Partial<Record<LimitName, string>>>;

export interface LimitFieldsParts {
  readonly typed: TypedLimits;
  readonly onType: (change: Partial<TypedLimits>) => void;
  /** What is said below a field, such as the most that a plan allows. */
  readonly hints?: LimitHints | undefined;
  /** More fields beside them. */
  readonly children?: ReactNode;
}

/** A hint for each field that has a value elsewhere. */
export function limitHints(limits: Limits | undefined, say: (value: string) => string): LimitHints {
  if (limits === undefined) return {};
  const amounts = AMOUNTS.map((name) => [name, limits[name], money] as const);
  const said = [...amounts, ...COUNTS.map((name) => [name, limits[name], count] as const)];
  return Object.fromEntries(
    said.filter(([, value]) => value > 0n).map(([name, value, write]) => [name, say(write(value))]),
  );
}

export function LimitFields({ typed, onType, hints, children }: LimitFieldsParts): ReactNode {
  const field = (name: LimitName, wrong: string | undefined, inputMode: "decimal" | "numeric"): ReactNode => (
    <Field
      key={name}
      label={LIMIT_NAMES[name]}
      inputMode={inputMode}
      value={typed[name]}
      hint={hints?.[name]}
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
