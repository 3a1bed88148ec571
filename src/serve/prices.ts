/** Makes what reads snapshots of published prices, and what operators decide on them. */
import { DAY_MS } from "../base/day.js";
import type { PriceLists } from "../price-lists/price-lists.js";
import { PriceReader } from "../price-lists/price-reader.js";
import type { Store } from "../store/store.js";
import type { Clocked } from "./core.js";
import { DatabasePrices } from "./price-board.js";
import type { SettingsKeeper } from "./settings-keeper.js";

/** Prices that could not be refreshed for so long are worth an operator's attention. */
const STALE_MS = 14 * DAY_MS;

interface Parts {
  readonly store: Store["people"];
  readonly lists: PriceLists;
  readonly settings: SettingsKeeper;
}

export function startPrices({ store, lists, settings: keeper }: Parts, { log, clock: { nowMs } }: Clocked) {
  const settings = () => keeper.prices;
  const onProblem = (problem: string, sinceMs: number): void => {
    const facts = { problem, days: Math.floor(sinceMs / DAY_MS) };
    if (sinceMs >= STALE_MS) log.error(facts, "no snapshot of prices could be read for 14 days; the last one is kept");
    else log.warn(facts, "the snapshot of prices could not be read; the last one is kept");
  };
  const reader = new PriceReader({ lists, store, settings, nowMs, random: Math.random, onProblem });
  reader.start();
  const board = new DatabasePrices({ lists, reader, store, settings, catchUp: () => keeper.catchUp() });
  return { board, close: () => reader.close() };
}
