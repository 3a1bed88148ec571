/** What changes of settings objects would do to models. Pure. */
import { type CheckedModel, type ModelEffect, Price } from "../api/index.js";
import type { ServedModel } from "../routing/model.js";
import type { PreparedRoutes } from "./routes.js";

const EFFECTS_MAX = 1_000;

/** What becomes of models where routes come into force: their prices, and which come or go. */
export function modelEffects(
  { sold: told, prices }: PreparedRoutes,
  before: ReadonlyMap<string, ServedModel>,
): ModelEffect[] {
  const sold = new Map(told.map((model) => [model.id, model]));
  const ids = [...new Set([...before.keys(), ...prices.keys()])].sort();
  return ids
    .map((id): ModelEffect => {
      const { source = "published", losses = [] } = sold.get(id) ?? {};
      const after = prices.get(id);
      return { id, before: before.get(id)?.price, after, source: after === undefined ? "" : source, losses };
    })
    .filter((effect) => !isSamePrice(effect.before, effect.after))
    .slice(0, EFFECTS_MAX);
}

/** What is published of a model, and why it would not be served. */
export function checkedModel(id: string, { unserved, listPrices, sold }: PreparedRoutes): CheckedModel {
  const problem = unserved.find((model) => model.id === id)?.rule ?? "";
  const losses = sold.find((model) => model.id === id)?.losses ?? [];
  return { id, problem, listPrice: listPrices.get(id), losses: [...losses] };
}

function isSamePrice(one: Price | undefined, other: Price | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  return Buffer.compare(Price.encode(one).finish(), Price.encode(other).finish()) === 0;
}
