/** The settings of a file with the objects of the database. Pure. */
import type { ObjectKind } from "../config/object-places.js";
import type { Settings } from "../config/settings.js";
import { idOf, namesakesOf, type ObjectSet } from "../settings/object.js";
import type { UsableObjects } from "../settings/settings-objects.js";

/** The name of an object of the database stands for nothing else, whether this node can use the object or not. */
export function mergedSettings(file: Settings, { entries }: ObjectSet, usable: UsableObjects): Settings {
  const used = new Set<string>();
  const beside = <One>(
    kind: ObjectKind,
    nameOf: (one: One) => string,
    ofFile: readonly One[],
    ofDatabase: readonly One[],
  ): readonly One[] => {
    for (const one of ofDatabase) used.add(idOf({ kind, name: nameOf(one) }));
    const isFree = (name: string): boolean => namesakesOf({ kind, name }).every((id) => !entries.has(id));
    return [...ofFile.filter((one) => isFree(nameOf(one))), ...ofDatabase];
  };
  const byId = ({ id }: { readonly id: string }): string => id;
  const { identity, payments, metrics, prices } = usable;
  const all = {
    upstreams: beside("upstream", byId, file.upstreams, usable.upstreams),
    models: beside("model", byId, file.models, usable.models),
    aliases: beside("alias", byId, file.aliases, usable.aliases),
    plans: beside("plan", byId, file.plans, usable.plans),
    identity: { issuers: beside("issuer", ({ name }) => name, file.identity.issuers, identity.issuers) },
    payments: entries.has(idOf({ kind: "payments", name: "stripe" })) ? payments : file.payments,
    metrics: entries.has(idOf({ kind: "metrics", name: "metrics" })) ? metrics : file.metrics,
    prices: entries.has(idOf({ kind: "prices", name: "prices" })) ? prices : file.prices,
  };
  return { ...file, ...all, unusedNames: new Set([...entries.keys()].filter((id) => !used.has(id))) };
}
