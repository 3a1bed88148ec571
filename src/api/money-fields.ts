/** Which fields of the protocol say money for people, and which fields of whole units say the same. */
import type { DescField, DescMessage } from "@bufbuild/protobuf";

import type { Money } from "../../gen/google/type/money.js";

export const MONEY = "google.type.Money";

/** The fields of a message without those that say money for people. */
export type FieldName<Message> = {
  [Name in keyof Message]-?: NonNullable<Message[Name]> extends Money ? never : Name;
}[keyof Message];

export interface MoneyField {
  /** The field for people, a google.type.Money in USD. */
  readonly money: DescField;
  /** The field of whole units that says the same. */
  readonly units: DescField;
  /** What the money says for one of the units, in nano-USD. */
  readonly nanosPerUnit: bigint;
}

/** How a money field is named after its units: pico-USD per token times a million are 1,000 nano-USD. */
const NAMINGS = [
  { suffix: "_per_million", units: "_picos", nanosPerUnit: 1_000n },
  { suffix: "_per_thousand", units: "_picos", nanosPerUnit: 1n },
  { suffix: "", units: "_nanos", nanosPerUnit: 1n },
] as const;

interface MessageMoney {
  readonly own: readonly MoneyField[];
  /** The fields whose messages hold money in turn. */
  readonly below: readonly DescField[];
}

const NONE: MessageMoney = { own: [], below: [] };
const known = new Map<DescMessage, MessageMoney>();

/** The money fields of a message, and of the messages in it. Throws where one has no field of whole units. */
export function moneyOf(desc: DescMessage): MessageMoney {
  const found = known.get(desc);
  if (found !== undefined) return found;
  // A message that holds itself has no money by that way.
  known.set(desc, NONE);
  const money: MessageMoney = {
    own: desc.fields.filter(isMoney).map((field) => withUnits(desc, field)),
    below: desc.fields.filter((field) => field.message !== undefined && !isMoney(field) && holdsMoney(field.message)),
  };
  known.set(desc, money);
  return money;
}

/** True where the message says money anywhere. */
export function holdsMoney(desc: DescMessage): boolean {
  const { own, below } = moneyOf(desc);
  return own.length + below.length > 0;
}

/** Changes the message of a field, or each of its list; what is absent stays so. */
export function changeEach(value: unknown, change: (message: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map(change);
  return value === undefined || value === null ? value : change(value);
}

function isMoney(field: DescField): boolean {
  return field.message?.typeName === MONEY;
}

function withUnits(desc: DescMessage, money: DescField): MoneyField {
  for (const { suffix, units: ending, nanosPerUnit } of NAMINGS) {
    if (!money.name.endsWith(suffix)) continue;
    const name = money.name.slice(0, money.name.length - suffix.length) + ending;
    const units = desc.fields.find((field) => field.name === name);
    if (units !== undefined) return { money, units, nanosPerUnit };
  }
  throw new Error(`${desc.typeName}.${money.name} has no field of whole units beside it`);
}
