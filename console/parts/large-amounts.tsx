/** Asks again where an amount is ten times the last of its kind, or more: a slip of the finger looks so. */
import { type ReactNode, useState } from "react";
import { words } from "../copy/en.ts";
import { money } from "../format.ts";
import { Check } from "./field.tsx";
import { isLargeAmount } from "../../src/base/typed-number.ts";

export interface TypedAmount {
  /** What the last amount is looked up by. */
  readonly kind: string;
  /** Undefined while none is typed. */
  readonly nanos: bigint | undefined;
  /** What it is now, where it is changed: 0n where there is none. */
  readonly before?: bigint;
}

export interface LargeAmounts {
  /** Stands in the form while it must be answered or was. */
  readonly question: ReactNode;
  readonly isOpen: boolean;
  /** Keeps the amounts as the last ones, after what they are for was done. */
  readonly keep: () => void;
}

export function useLargeAmounts(amounts: readonly TypedAmount[]): LargeAmounts {
  const [confirmed, setConfirmed] = useState("");
  const large = amounts.flatMap(({ kind, nanos = 0n, before = 0n }) => {
    const last = before > 0n ? before : lastOf(kind);
    return isLargeAmount(nanos, last) ? [words.form.largeAmount(money(nanos), money(last))] : [];
  });
  const asked = large.join(" ");
  return {
    question:
      asked === "" ? null : (
        <Check
          label={asked}
          hint={words.form.largeRule}
          checked={confirmed === asked}
          onChange={({ currentTarget: { checked } }) => setConfirmed(checked ? asked : "")}
        />
      ),
    isOpen: asked !== "" && confirmed !== asked,
    keep: () => {
      for (const { kind, nanos = 0n } of amounts)
        if (nanos > 0n) window.localStorage.setItem(placeOf(kind), nanos.toString());
    },
  };
}

function lastOf(kind: string): bigint {
  const kept = window.localStorage.getItem(placeOf(kind)) ?? "";
  return /^\d{1,18}$/.test(kept) ? BigInt(kept) : 0n;
}

/** In this browser, as the theme is. */
function placeOf(kind: string): string {
  return `tollgate.last-amount.${kind}`;
}
