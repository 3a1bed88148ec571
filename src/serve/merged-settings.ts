/** The settings of a file with the objects of the database. Pure. */
import type { Settings } from "../config/settings.js";
import { idOf, namesakesOf, type ObjectKind, type ObjectSet } from "../settings/object.js";
import type { UsableObjects } from "../settings/settings-objects.js";

/** The name of an object of the database stands for nothing else, whether this node can use the object or not. */
export function mergedSettings(file: Settings, { entries }: ObjectSet, usable: UsableObjects): Settings {
  const used = new Set<string>();
  const beside = <One extends { readonly id: string }>(
    kind: ObjectKind,
    ofFile: readonly One[],
    ofDatabase: readonly One[],
  ): readonly One[] => {
    for (const { id } of ofDatabase) used.add(idOf({ kind, name: id }));
    const isFree = (name: string): boolean => namesakesOf({ kind, name }).every((id) => !entries.has(id));
    return [...ofFile.filter(({ id }) => isFree(id)), ...ofDatabase];
  };
  const all = {
    upstreams: beside("upstream", file.upstreams, usable.upstreams),
    models: beside("model", file.models, usable.models),
    aliases: beside("alias", file.aliases, usable.aliases),
    plans: beside("plan", file.plans, usable.plans),
  };
  return { ...file, ...all, unusedNames: new Set([...entries.keys()].filter((id) => !used.has(id))) };
}
