/** What quantities of other units than tokens cost. Pure. */
import type { Meter, Price, Rate } from "../api/index.js";
import { greater } from "../base/money.js";
import { rateOf } from "./rates.js";

/** In pico-USD, each meter rounded up. What has no rate costs nothing here: it is refused before it is asked for. */
export function meterPicos(meters: readonly Meter[], price: Price): bigint {
  let picos = 0n;
  for (const meter of meters) {
    const rate = rateOf(price, meter);
    if (rate !== undefined) picos += ratePicos(meter.quantity, rate);
  }
  return picos;
}

/** The most that quantities can cost, in pico-USD, where of each unit any variant may be used. */
export function meterPicosMax(metersMax: readonly Meter[], { rates }: Price): bigint {
  let picos = 0n;
  for (const { unit, quantity } of metersMax) {
    let most = 0n;
    for (const rate of rates) if (rate.unit === unit) most = greater(most, ratePicos(quantity, rate));
    picos += most;
  }
  return picos;
}

function ratePicos(quantity: bigint, { picos, per, step, minimum }: Rate): bigint {
  if (quantity === 0n) return 0n;
  const charged = ceiled(greater(quantity, minimum), step);
  return (charged * picos + per - 1n) / per;
}

function ceiled(quantity: bigint, step: bigint): bigint {
  return ((quantity + step - 1n) / step) * step;
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
