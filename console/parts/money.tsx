/** An amount as people scan it, with all its digits on hover and for a screen reader. */
import type { ReactNode } from "react";
import { money, moneyParts, scannedNanos } from "../format.ts";

/** What digits that are not there take, so that amounts in a column stand point under point. */
const FIGURE_SPACE = "\u2007";
const FINE_DIGITS = 7;

export interface MoneyFace {
  readonly nanos: bigint;
  /** In a column of a table. */
  readonly isAligned?: boolean;
}

export function Money({ nanos, isAligned = false }: MoneyFace): ReactNode {
  const scanned = scannedNanos(nanos);
  const { main, fine } = moneyParts(scanned);
  const padding = isAligned ? FIGURE_SPACE.repeat(FINE_DIGITS - fine.length) : "";
  const shown = (
    <>
      {main}
      {fine + padding !== "" && (
        <span className="fine">
          {fine}
          {padding}
        </span>
      )}
    </>
  );
  if (scanned === nanos) return <data value={nanos.toString()}>{shown}</data>;
  return (
    <data value={nanos.toString()} title={money(nanos)}>
      <span aria-hidden="true">{shown}</span>
      <span className="hidden-text">{money(nanos)}</span>
    </data>
  );
}
