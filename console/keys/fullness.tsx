/** How full each limit of a key is now. What running requests have set aside of a budget is shown apart. */
import type { ReactNode } from "react";
import type { Key } from "../../gen/console/key_service.js";
import { keyWords } from "../copy/en-keys.ts";
import { count, dateTime, money, percent } from "../format.ts";

/** From this share of a limit on its bar changes its colour. */
const NEARLY = 0.8;
const THOUSANDTHS = 1_000n;

interface Fullness {
  readonly name: string;
  readonly used: bigint;
  /** Set aside for requests that run: not spent, and not free either. */
  readonly held: bigint;
  readonly limit: bigint;
  readonly write: (value: bigint) => string;
  /** When a budget starts again; absent where it never does. */
  readonly startsAgain?: Date;
}

/** Of the limits that the key has, in the order of the page. */
function fullnessOf({ settings, figures }: Key): readonly Fullness[] {
  if (settings === undefined || figures === undefined) return [];
  const { heldNanos } = figures;
  const names = keyWords.limitNames;
  const budget = (name: string, used: bigint, limit: bigint, startsAgain?: Date): Fullness => ({
    name,
    used,
    limit,
    held: heldNanos,
    write: money,
    ...(startsAgain && { startsAgain }),
  });
  const now = new Date();
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()];
  const nextDay = new Date(Date.UTC(year, month, now.getUTCDate() + 1));
  const nextMonth = new Date(Date.UTC(year, month + 1));
  const rate = (name: string, used: bigint, limit: bigint): Fullness => ({ name, used, limit, held: 0n, write: count });
  const all = [
    budget(names.day, figures.spentDayNanos, settings.budgetDayNanos, nextDay),
    budget(names.month, figures.spentMonthNanos, settings.budgetMonthNanos, nextMonth),
    budget(names.total, figures.spentTotalNanos, settings.budgetTotalNanos),
    rate(names.requests, figures.requestsUsed, settings.requestsPerMinute),
    rate(names.tokens, figures.tokensUsed, settings.tokensPerMinute),
  ];
  return all.filter(({ limit }) => limit > 0n);
}

/** How much of the limit an amount is; above 1 where the limit was lowered since. */
function shareOf({ used, limit }: Fullness, amount = used): number {
  return Number((amount * THOUSANDTHS) / limit) / Number(THOUSANDTHS);
}

/** The limit that is nearest, for a table. */
export function Fullest({ shownKey }: { readonly shownKey: Key }): ReactNode {
  const [fullest] = fullnessOf(shownKey).toSorted((a, b) => shareOf(b) - shareOf(a));
  if (fullest === undefined) return "";
  return (
    <span className="meter">
      <small>
        {percent(shareOf(fullest))} <span className="soft">{fullest.name}</span>
      </small>
      <Bar of={fullest} />
    </span>
  );
}

/** Every limit that the key has, each with its bar. */
export function Fullnesses({ shownKey }: { readonly shownKey: Key }): ReactNode {
  const all = fullnessOf(shownKey);
  return (
    <section className="card">
      <h2 className="card-head">{keyWords.fullness}</h2>
      {all.length === 0 ? (
        <p className="soft">{keyWords.noLimits}</p>
      ) : (
        <dl className="stack">
          {all.map((one) => (
            <div key={one.name} className="meter">
              <dt className="soft">{one.name}</dt>
              <dd className="figures-line">
                {keyWords.used(one.write(one.used), one.write(one.limit))}
                {one.used >= one.limit && (
                  <strong className="wrong">
                    {" "}
                    {one.startsAgain === undefined ? keyWords.usedUp : keyWords.usedUntil(dateTime(one.startsAgain))}
                  </strong>
                )}
              </dd>
              {one.held > 0n && <dd className="soft">{keyWords.heldNow(one.write(one.held))}</dd>}
              <dd>
                <Bar of={one} />
              </dd>
            </div>
          ))}
        </dl>
      )}
    </section>
  );
}

function Bar({ of }: { readonly of: Fullness }): ReactNode {
  const share = Math.min(shareOf(of), 1);
  const withHeld = Math.min(shareOf(of, of.used + of.held), 1);
  const series = withHeld > NEARLY ? "series-3" : "series-1";
  return (
    <svg className="budget" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
      <rect className="budget-all" width="100" height="1" />
      <rect className={`${series} budget-held`} width={withHeld * 100} height="1" fill="currentColor" />
      <rect className={series} width={share * 100} height="1" fill="currentColor" />
    </svg>
  );
}
