/**
 * Money in messages: handlers know whole nano-USD alone. A google.type.Money beside them is read before a handler, and
 * written behind it.
 */
import type { DescMessage } from "@bufbuild/protobuf";
import type { Sink } from "../../api/channel.js";
import { FIELD_MASK, type MethodDescription } from "../../api/descriptors.js";
import { changeEach, moneyOf } from "../../api/money-fields.js";
import { AMOUNT_NANOS_MAX, formatMoney, NANOS_PER_USD } from "../../base/money.js";
import { invalid } from "../../api/check.js";
import type { StreamHandler, UnaryHandler } from "../call/handler.js";

type Fields = Readonly<Record<string, unknown>>;
const CURRENCY = "USD";

export interface Money {
  readonly currencyCode: string;
  readonly units: bigint;
  readonly nanos: number;
}

/** A message that brings its money itself: nothing is written into it. */
export abstract class MoneyItself {
  get bringsMoney(): true {
    return true;
  }
}

class WrittenMoney extends MoneyItself {}

/** The message with its money, which nobody writes once more: of many messages it is written a few at a time. */
export function withOwnMoney<Message extends object>(desc: DescMessage, message: Message): Message {
  return Object.assign(new WrittenMoney(), writeMoney(desc, message)) as unknown as Message;
}

/** The handler with money read and written around it; as it is where its messages have none. */
export function withMoney(
  method: MethodDescription,
  handler: UnaryHandler<unknown, unknown>,
): UnaryHandler<unknown, unknown> {
  const { readsMoney: reads, writesMoney: writes } = method;
  if (!reads && !writes) return handler;
  return async (request, call) => {
    const { input, output } = method.desc;
    const answer = await handler(reads ? readMoney(input, request) : request, call);
    return writes ? writeMoney(output, answer) : answer;
  };
}

/** The same of a handler that pushes its answer. */
export function streamWithMoney(
  method: MethodDescription,
  handler: StreamHandler<unknown, unknown>,
): StreamHandler<unknown, unknown> {
  const { readsMoney: reads, writesMoney: writes } = method;
  if (!reads && !writes) return handler;
  return (request, call, sink) => {
    const { input, output } = method.desc;
    const written: Sink<unknown> = {
      head: (metadata) => sink.head(metadata),
      data: (message) => sink.data(writeMoney(output, message)),
      onDrain: (callback) => sink.onDrain(callback),
    };
    return handler(reads ? readMoney(input, request) : request, call, writes ? written : sink);
  };
}

/** Nano-USD as a google.type.Money: whole USD, and the rest with the same sign. */
export function moneyFrom(nanos: bigint): Money {
  return { currencyCode: CURRENCY, units: nanos / NANOS_PER_USD, nanos: Number(nanos % NANOS_PER_USD) };
}

/** A copy whose nano-USD say what its money says. Throws PARAMETER_INVALID where that is none, or differs. */
export function readMoney(desc: DescMessage, message: unknown, path = ""): Fields {
  const { own, below } = moneyOf(desc);
  const read: Record<string, unknown> = { ...fieldsOf(message) };
  for (const { money, units } of own) {
    const given = read[money.localName];
    if (given === undefined) continue;
    const nanos = nanosOf(given as Money, path + money.name);
    const whole = read[units.localName];
    // Zero is also what a message says that leaves them out.
    if (whole !== undefined && whole !== 0n && whole !== nanos)
      throw invalid(path + money.name, `differs from ${units.name}: set one of the two`);
    read[units.localName] = nanos;
    read[money.localName] = undefined;
  }
  for (const { localName, message: inner, name } of below)
    read[localName] = changeEach(read[localName], (each) => inner && readMoney(inner, each, `${path}${name}.`));
  for (const { localName, message: inner } of desc.fields)
    if (inner?.typeName === FIELD_MASK) read[localName] = unitNames(desc, read[localName]);
  return read;
}

/** A copy with money beside its whole units. */
export function writeMoney(desc: DescMessage, message: unknown): Fields {
  if (message instanceof MoneyItself) return fieldsOf(message);
  const { own, below } = moneyOf(desc);
  const written: Record<string, unknown> = { ...fieldsOf(message) };
  for (const { money, units, nanosPerUnit } of own) {
    const value = written[units.localName];
    if (typeof value === "bigint") written[money.localName] = moneyFrom(value * nanosPerUnit);
  }
  for (const { localName, message: inner } of below)
    written[localName] = changeEach(written[localName], (each) => inner && writeMoney(inner, each));
  return written;
}

function nanosOf({ currencyCode, units, nanos }: Money, param: string): bigint {
  if (currencyCode !== CURRENCY) throw invalid(param, `must be in USD: set currency_code to "${CURRENCY}"`);
  const all = units * NANOS_PER_USD + BigInt(nanos);
  const isWithin = units >= 0n && nanos >= 0 && nanos < Number(NANOS_PER_USD) && all <= AMOUNT_NANOS_MAX;
  if (isWithin) return all;
  const most = formatMoney(AMOUNT_NANOS_MAX);
  throw invalid(param, `must be from 0.00 USD to ${most}: units from 0, and nanos from 0 to 999999999`);
}

/** The names of a mask, those of money as those of their whole units. */
function unitNames(desc: DescMessage, mask: unknown): unknown {
  if (!Array.isArray(mask)) return mask;
  const own = moneyOf(desc).below.flatMap(({ message }) => (message === undefined ? [] : moneyOf(message).own));
  return mask.map((name: unknown) => own.find(({ money }) => money.name === name)?.units.name ?? name);
}

function fieldsOf(message: unknown): Fields {
  return message as Fields;
}
