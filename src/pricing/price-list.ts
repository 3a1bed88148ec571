/** Published prices: the list that the program has, and what a newer list says of some of its models. */
import type { ModelInfo, Provider } from "@pydantic/genai-prices";

/** What a published price is from. */
export interface PriceSource {
  readonly list: string;
  readonly date: string;
}

/** Which list the published prices are of where nothing newer is in force: the package that the program has. */
export const PRICE_LIST: PriceSource = {
  /** A test compares it with what package.json has. */
  list: "genai-prices 0.1.8",
  /** When the registry got this version, since the package itself does not say it. */
  date: "2026-09-23",
};

/** A model as a newer list has it. */
export interface NewerModel {
  /** Null where that list no longer has the model. */
  readonly model: ModelInfo | null;
  /** The serial of that list, and when it was made, as a time in ISO 8601. */
  readonly serial: number;
  readonly made: string;
}

/** By `modelKey`. */
export type NewerModels = ReadonlyMap<string, NewerModel>;

/** A list in force that is not the program's own. */
export interface PriceList {
  /** By their ids, each with the models of the providers that it falls back to. */
  readonly providers: ReadonlyMap<string, Provider>;
  /** Where a price is from, by provider and model; what is missing is of the program's own list. */
  sourceOf(providerId: string, modelId: string): PriceSource;
}

/** How a list is called whose prices are of a snapshot. */
export function snapshotName(serial: number): string {
  return `price snapshot ${serial}`;
}

/** The name of a provider's model in changes and in what is stored. */
export function modelKey(providerId: string, modelId: string): string {
  return `${providerId}/${modelId}`;
}

/** Finds the model that a provider has under a name, as the package does. */
export type FindModel = (provider: Provider, name: string) => ModelInfo | undefined;

/** The providers of the program's own list, with newer models in the place of its own. Models stay where they were. */
export function newerProviders(bundled: readonly Provider[], newer: NewerModels, find: FindModel): readonly Provider[] {
  return bundled.map((provider) => {
    const own = new Set(provider.models.map(({ id }) => id));
    const kept = provider.models.flatMap((model) => {
      const found = newer.get(modelKey(provider.id, model.id));
      if (found === undefined) return [model];
      return found.model === null ? [] : [found.model];
    });
    const added = [...newer].flatMap(([key, { model }]) =>
      model !== null && key === modelKey(provider.id, model.id) && !own.has(model.id) ? [model] : [],
    );
    // The first that matches a name prices it. One whose own name another one matches would never be found behind it.
    const [taking, others] = [
      added.filter(({ id }) => find(provider, id) !== undefined),
      added.filter(({ id }) => find(provider, id) === undefined),
    ];
    return { ...provider, models: [...taking, ...kept, ...others] };
  });
}

export function priceListOf(providers: readonly Provider[], newer: NewerModels): PriceList {
  const byId = new Map(providers.map((provider) => [provider.id, provider]));
  const merged = providers.map(({ fallback_model_providers: fallbacks = [], ...provider }): Provider => {
    const others = fallbacks.flatMap((id) => byId.get(id)?.models ?? []);
    return { ...provider, models: [...provider.models, ...others] };
  });
  return {
    providers: new Map(merged.map((provider) => [provider.id, provider])),
    sourceOf: (providerId, modelId) => {
      const own = byId.get(providerId);
      const holders =
        own === undefined ? [] : [own, ...(own.fallback_model_providers ?? []).flatMap((id) => byId.get(id) ?? [])];
      const holder = holders.find(({ models }) => models.some(({ id }) => id === modelId));
      const found = holder && newer.get(modelKey(holder.id, modelId));
      return found === undefined ? PRICE_LIST : { list: snapshotName(found.serial), date: found.made.slice(0, 10) };
    },
  };
}

/** Those that are not older than the program's own list: a newer program knows better than what was accepted before. */
export function stillNewer(newer: NewerModels): NewerModels {
  return new Map([...newer].filter(([, { made }]) => made >= PRICE_LIST.date));
}
