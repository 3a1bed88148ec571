/** The models that a settings file names, and that may be of the file or of the database. */
import type { LateProblem } from "../config/file.js";
import { unknownModel } from "../config/references.js";
import type { Settings } from "../config/settings.js";
import { hasModel } from "../config/wildcards.js";
import type { ObjectSet } from "../settings/object.js";

/** The aliases and fallbacks whose model neither the file nor the database has. */
export function unknownModels({ aliases, models }: Settings, { entries }: ObjectSet): LateProblem[] {
  const ofDatabase = [...entries.values()].filter(({ kind }) => kind === "model");
  const known = new Set([...models.map(({ id }) => id), ...ofDatabase.map(({ name }) => name)]);
  const ofAliases = aliases.map(({ id, model }) => ({ path: ["aliases", id, "model"], name: model }));
  const fallbackNames = new Set([...known, ...aliases.map(({ id }) => id)]);
  const ofModels = models.flatMap(({ id, fallbacks = [], onContext }) => [
    ...fallbacks.map((name, index) => ({ path: ["models", id, "fallbacks", String(index)], name })),
    ...(onContext === undefined ? [] : [{ path: ["models", id, "on_context"], name: onContext }]),
  ]);
  return [
    ...ofAliases.filter(({ name }) => !hasModel(known, name)),
    ...ofModels.filter(({ name }) => !hasModel(fallbackNames, name)),
  ].map(({ path, name }) => ({ path, rule: unknownModel(name, known) }));
}
