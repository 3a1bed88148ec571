/** How full each limit of a key is now. Budgets count what is set aside for running requests, too. */
import type { ReactNode } from "react";
import type { Key } from "../../../gen/console/key_service.js";
import { keyWords } from "../copy/en-keys.ts";
import { count, money, percent } from "../format.ts";

/** From this share of a limit on its bar changes its colour. */
const NEARLY = 0.8;
const THOUSANDTHS = 1_000n;

interface Fullness {
  readonly name: string;
  readonly used: bigint;
  readonly limit: bigint;
  readonly write: (value: bigint) => string;
}

/** Of the limits that the key has, in the order of the page. */
function fullnessOf({ settings, figures }: Key): readonly Fullness[] {
  if (settings === undefined || figures === undefined) return [];
  const { heldNanos } = figures;
  const names = keyWords.limitNames;
  const all: readonly Fullness[] = [
    { name: names.day, used: figures.spentDayNanos + heldNanos, limit: settings.budgetDayNanos, write: money },
    { name: names.month, used: figures.spentMonthNanos + heldNanos, limit: settings.budgetMonthNanos, write: money },
    { name: names.total, used: figures.spentTotalNanos + heldNanos, limit: settings.budgetTotalNanos, write: money },
    { name: names.requests, used: figures.requestsUsed, limit: settings.requestsPerMinute, write: count },
    { name: names.tokens, used: figures.tokensUsed, limit: settings.tokensPerMinute, write: count },
  ];
  return all.filter(({ limit }) => limit > 0n);
}

function shareOf({ used, limit }: Fullness): number {
  return Number((used * THOUSANDTHS) / limit) / Number(THOUSANDTHS);
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
      <Bar share={shareOf(fullest)} />
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
              <dd className="figures-line">{keyWords.used(one.write(one.used), one.write(one.limit))}</dd>
              <dd>
                <Bar share={shareOf(one)} />
              </dd>
            </div>
          ))}
        </dl>
      )}
    </section>
  );
}

function Bar({ share }: { readonly share: number }): ReactNode {
  const width = Math.min(share, 1) * 100;
  return (
    <svg className="budget" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
      <rect className="budget-all" width="100" height="1" />
      <rect className={share > NEARLY ? "series-3" : "series-1"} width={width} height="1" fill="currentColor" />
    </svg>
  );
}
