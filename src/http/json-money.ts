/** Amounts of money in JSON: USD as a decimal string beside whole nano-USD, of which one is enough. */
import type { DescField, DescMessage, JsonObject, JsonValue } from "@bufbuild/protobuf";
import { changeEach, moneyOf } from "../api/money-fields.js";
import { AMOUNT_NANOS_MAX, formatMoney, parseUsd } from "../base/money.js";
import { isRecord, refuse } from "./json-check.js";

const EXAMPLE = 'send USD as a string such as "25.00"';
const AMOUNT_TEXT = /^\d{1,10}(?:\.\d{1,9})?$/;
/** What people write in place of an amount, and what is wrong with it. */
const MISTAKES: readonly (readonly [RegExp, string])[] = [
  [/^[+-]/, `must have no sign: ${EXAMPLE}`],
  [/^[\d.]+e/i, `must have no exponent: ${EXAMPLE}`],
  [/^\d+\.\d{10,}$/, `must have at most nine decimals: ${EXAMPLE}`],
  [/^\d{11,}(?:\.\d+)?$/, `must be at most ${formatMoney(AMOUNT_NANOS_MAX)}`],
];

/**
 * Turns each amount of a checked message into nano-USD. Throws PARAMETER_INVALID where it is none, and where both are
 * there and differ. Null is what was not sent, but where it stands alone: then the nano-USD are null.
 */
export function takeMoney(desc: DescMessage, json: JsonObject, path = ""): void {
  const { own, below } = moneyOf(desc);
  for (const { money, units } of own) {
    const amount = take(json, money);
    if (amount === undefined) continue;
    const whole = take(json, units)?.value ?? null;
    json[units.name] = amount.value === null ? whole : sameNanos(amount, whole, path, units.name);
  }
  for (const field of below) {
    const { message } = field;
    const name = namesIn(json, field)[0];
    if (message === undefined || name === undefined) continue;
    changeEach(json[name], (value) => isObject(value) && takeMoney(message, value, `${path}${name}.`));
  }
}

interface Member {
  readonly name: string;
  readonly value: JsonValue;
}

function sameNanos({ name, value }: Member, whole: JsonValue, path: string, unitsName: string): string {
  const nanos = readMoney(value, path + name);
  if (whole !== null && BigInt(String(whole)) !== nanos)
    refuse(path + name, `differs from ${unitsName}: send one of the two`);
  return nanos.toString();
}

/** Takes a field out under both of its names. A check before let only one of them have a value. */
function take(json: JsonObject, field: DescField): Member | undefined {
  const members = namesIn(json, field).map((name) => ({ name, value: json[name] ?? null }));
  for (const { name } of members) delete json[name];
  return members.find(({ value }) => value !== null) ?? members[0];
}

function readMoney(value: unknown, at: string): bigint {
  if (typeof value === "number") refuse(at, `is a number, which readers of JSON may round: ${EXAMPLE}`);
  if (typeof value !== "string") refuse(at, `must be an amount: ${EXAMPLE}`);
  const text = value.replace(/ USD$/, "");
  const nanos = AMOUNT_TEXT.test(text) ? parseUsd(text) : undefined;
  if (nanos === undefined)
    refuse(at, MISTAKES.find(([mistake]) => mistake.test(text))?.[1] ?? `must be a decimal amount: ${EXAMPLE}`);
  if (nanos > AMOUNT_NANOS_MAX) refuse(at, `must be at most ${formatMoney(AMOUNT_NANOS_MAX)}`);
  return nanos;
}

/** The names under which JSON has the field: the proto's, and its other one. */
function namesIn(json: JsonObject, field: DescField): string[] {
  return [...new Set([field.name, field.jsonName])].filter((name) => Object.hasOwn(json, name));
}

function isObject(value: unknown): value is JsonObject {
  return isRecord(value);
}
