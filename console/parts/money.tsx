/** An amount to the last nano-dollar: what is smaller than a cent is there, and smaller. */
import type { ReactNode } from "react";
import { moneyParts } from "../format.ts";

/** What digits that are not there take, so that amounts in a column stand point under point. */
const FIGURE_SPACE = "\u2007";
const FINE_DIGITS = 7;

export interface MoneyFace {
  readonly nanos: bigint;
  /** In a column of a table. */
  readonly isAligned?: boolean;
}

export function Money({ nanos, isAligned = false }: MoneyFace): ReactNode {
  const { main, fine } = moneyParts(nanos);
  const padding = isAligned ? FIGURE_SPACE.repeat(FINE_DIGITS - fine.length) : "";
  return (
    <data value={nanos.toString()}>
      {main}
      {fine + padding !== "" && (
        <span className="fine">
          {fine}
          {padding}
        </span>
      )}
    </data>
  );
}
