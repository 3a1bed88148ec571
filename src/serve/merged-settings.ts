/** The settings of a file with the objects of the database. The name of an object stands for nothing else. */
import type { ObjectKind } from "../config/object-places.js";
import type { Settings } from "../config/settings.js";
import { idOf, type ObjectSet } from "../settings/object.js";
import type { UsableObjects } from "../settings/settings-objects.js";

/** `set`: all objects, of which this node can use some. */
export function settingsWith(file: Settings, usable: UsableObjects, set: ObjectSet): Settings {
  const used = new Set<string>();
  const beside = <One>(
    kind: ObjectKind,
    nameOf: (one: One) => string,
    ofFile: readonly One[],
    ofDatabase: readonly One[],
  ): readonly One[] => {
    for (const one of ofDatabase) used.add(idOf({ kind, name: nameOf(one) }));
    return [...ofFile.filter((one) => !set.entries.has(idOf({ kind, name: nameOf(one) }))), ...ofDatabase];
  };
  const byId = ({ id }: { readonly id: string }): string => id;
  const { upstreams, models, plans, identity, payments, metrics } = usable;
  const all = {
    upstreams: beside("upstream", byId, file.upstreams, upstreams),
    models: beside("model", byId, file.models, models),
    plans: beside("plan", byId, file.plans, plans),
    identity: { issuers: beside("issuer", ({ name }) => name, file.identity.issuers, identity.issuers) },
    payments: set.entries.has(idOf({ kind: "payments", name: "stripe" })) ? payments : file.payments,
    metrics: set.entries.has(idOf({ kind: "metrics", name: "metrics" })) ? metrics : file.metrics,
  };
  const unusedNames = new Set([...set.entries.keys()].filter((id) => !used.has(id)));
  return { ...file, ...all, unusedNames };
}
