/** The figures at the head of the overview: balance, spend against budgets, and how long the balance lasts. */
import type { ReactNode } from "react";
import type { AccountFigures, AccountSettings } from "../../gen/console/account_service.js";
import { words } from "../copy/en.ts";
import { money } from "../format.ts";
import { Money } from "../parts/money.tsx";

export interface FiguresParts {
  readonly figures: AccountFigures | undefined;
  readonly settings: AccountSettings | undefined;
  /** Spent on each day shown that had requests. Undefined: the period is not shown by day. */
  readonly spentByDay: readonly bigint[] | undefined;
}

const DAYS_SHOWN_MAX = 365n;
/** From this many percent of a budget on its bar changes its colour. */
const NEARLY = 80;

export function Figures({ figures, settings, spentByDay }: FiguresParts): ReactNode {
  const { availableNanos = 0n, heldNanos = 0n, spentDayNanos = 0n, spentMonthNanos = 0n } = figures ?? {};
  // Days without spend say nothing of the pace at which it is spent.
  const spent = spentByDay?.filter((nanos) => nanos > 0n) ?? [];
  const aDay = spent.length === 0 ? 0n : spent.reduce((sum, nanos) => sum + nanos, 0n) / BigInt(spent.length);
  return (
    <dl className="figures">
      <div>
        <dt>{words.overview.available}</dt>
        <dd className="figure">
          <Money nanos={availableNanos} />
        </dd>
        {heldNanos > 0n && <dd className="note">{words.overview.held(money(heldNanos))}</dd>}
      </div>
      <Spent name={words.overview.today} nanos={spentDayNanos} budgetNanos={settings?.budgetDayNanos ?? 0n} />
      <Spent name={words.overview.month} nanos={spentMonthNanos} budgetNanos={settings?.budgetMonthNanos ?? 0n} />
      <div>
        <dt>{words.overview.ends}</dt>
        <dd className="figure">{aDay === 0n ? "–" : lasts(availableNanos / aDay)}</dd>
        <dd className="note">{paceNote(aDay, spent.length, spentByDay !== undefined)}</dd>
      </div>
    </dl>
  );
}

function paceNote(aDay: bigint, days: number, isByDay: boolean): string {
  if (!isByDay) return words.overview.endsAboutToday;
  return aDay === 0n ? words.overview.endsNever : words.overview.endsAbout(money(aDay), days);
}

function lasts(days: bigint): string {
  return days > DAYS_SHOWN_MAX ? words.overview.tooLong : words.overview.endsIn(Number(days));
}

/** In percent, at most 100. */
function shareOf(nanos: bigint, budgetNanos: bigint): number {
  return Math.min(Number((nanos * 1_000n) / budgetNanos) / 10, 100);
}

interface SpentParts {
  readonly name: string;
  readonly nanos: bigint;
  readonly budgetNanos: bigint;
}

function Spent({ name, nanos, budgetNanos }: SpentParts): ReactNode {
  return (
    <div>
      <dt>{name}</dt>
      <dd className="figure">
        <Money nanos={nanos} />
      </dd>
      <dd className="note">
        {budgetNanos === 0n ? words.overview.noBudget : words.overview.ofBudget(money(budgetNanos))}
      </dd>
      {budgetNanos > 0n && (
        <dd>
          <svg className="budget" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
            <rect className="budget-all" width="100" height="1" />
            <rect
              className={shareOf(nanos, budgetNanos) > NEARLY ? "series-3" : "series-1"}
              width={shareOf(nanos, budgetNanos)}
              height="1"
              fill="currentColor"
            />
          </svg>
        </dd>
      )}
    </div>
  );
}
