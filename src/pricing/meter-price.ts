/** What quantities of other units than tokens cost. Pure. */
import type { Meter, Price, Rate } from "../api/index.js";
import { greater } from "../base/money.js";
import { rateOf } from "./rates.js";

/**
 * In pico-USD. What one rate is for is added up before its step and minimum count, and rounded up once. What has no
 * rate costs nothing here: it is refused before it is asked for.
 */
export function meterPicos(meters: readonly Meter[], price: Price): bigint {
  if (meters.length === 0) return 0n;
  const quantities = new Map<Rate, bigint>();
  for (const meter of meters) {
    const rate = rateOf(price, meter);
    if (rate !== undefined) quantities.set(rate, (quantities.get(rate) ?? 0n) + meter.quantity);
  }
  let picos = 0n;
  for (const [rate, quantity] of quantities) picos += ratePicos(quantity, rate);
  return picos;
}

/** The most that quantities can cost, in pico-USD, where of each unit any variant may be used. */
export function meterPicosMax(metersMax: readonly Meter[], { rates }: Price): bigint {
  let picos = 0n;
  for (const { unit, quantity } of metersMax) {
    if (quantity === 0n) continue;
    const ofUnit = rates.filter((rate) => rate.unit === unit);
    const [only, ...others] = ofUnit;
    if (only !== undefined) picos += others.length === 0 ? ratePicos(quantity, only) : mixedPicosMax(quantity, ofUnit);
  }
  return picos;
}

/** The whole quantity at the highest rate, and for each rate what its step and its minimum can add. */
function mixedPicosMax(quantity: bigint, rates: readonly Rate[]): bigint {
  let most = 0n;
  let added = 0n;
  for (const rate of rates) {
    most = greater(most, roundedUp(quantity * rate.picos, rate.per));
    added += ratePicos(1n, rate) + 1n;
  }
  return most + added;
}

function ratePicos(quantity: bigint, { picos, per, step, minimum }: Rate): bigint {
  if (quantity === 0n) return 0n;
  const charged = ceiled(greater(quantity, minimum), step);
  return roundedUp(charged * picos, per);
}

function ceiled(quantity: bigint, step: bigint): bigint {
  return roundedUp(quantity, step) * step;
}

function roundedUp(quantity: bigint, per: bigint): bigint {
  return (quantity + per - 1n) / per;
}

/** A rate that is at least as dear as both, for any quantity. */
export function dearerRate(a: Rate, b: Rate): Rate {
  const dear = a.picos * b.per >= b.picos * a.per ? a : b;
  return { ...dear, step: leastMultiple(a.step, b.step), minimum: greater(a.minimum, b.minimum) };
}

/** Whoever rounds up to this has rounded up to each. */
function leastMultiple(a: bigint, b: bigint): bigint {
  let [divisor, rest] = [a, b];
  while (rest > 0n) [divisor, rest] = [rest, divisor % rest];
  return (a / divisor) * b;
}
