/** The numbers that people type into fields, read in the way of their browser's locale. */
import { certainUsd, type TypedNumber, typedNumbers } from "../src/base/typed-number.ts";
import { words } from "./copy/en.ts";

const BILLION = 1e9;
const numbers = typedNumbers(window.navigator.language);

/** Nano-USD of an amount; undefined where it is none, or may be two. */
export function parseMoney(text: string): bigint | undefined {
  return valueOf(numbers.usd(text));
}

/** A whole number; undefined where it is none, or may be two. */
export function parseWhole(text: string): bigint | undefined {
  return valueOf(numbers.whole(text));
}

/** A number with decimals; undefined where it is none, or may be two. */
export function parseDecimal(text: string): number | undefined {
  const billionths = valueOf(numbers.decimal(text));
  return billionths === undefined ? undefined : Number(billionths) / BILLION;
}

/** What is wrong with an amount; undefined where it is right, or empty. */
export function wrongMoney(text: string): string | undefined {
  return wrongIn(text, numbers.usd(text), words.form.wrongMoney);
}

/** What is wrong with a whole number; undefined where it is right, or empty. */
export function wrongWhole(text: string): string | undefined {
  return wrongIn(text, numbers.whole(text), words.form.wrongNumber);
}

/** What is wrong with a number from 0 to `most` that may have decimals; undefined where it is right, or empty. */
export function wrongDecimal(text: string, most: number): string | undefined {
  const wrong = words.form.wrongDecimal(most);
  return wrongIn(text, numbers.decimal(text), wrong) ?? ((parseDecimal(text) ?? 0) > most ? wrong : undefined);
}

/** An amount as a field shows it, such as 12.50; empty for zero. */
export function typedMoney(nanos: bigint): string {
  return nanos === 0n ? "" : certainUsd(nanos);
}

function valueOf(typed: TypedNumber): bigint | undefined {
  return typed.kind === "number" ? typed.value : undefined;
}

function wrongIn(text: string, typed: TypedNumber, wrong: string): string | undefined {
  if (text.trim() === "" || typed.kind === "number") return undefined;
  return typed.kind === "ambiguous" ? words.form.twoReadings(...typed.readings) : wrong;
}
