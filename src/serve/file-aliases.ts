/** The aliases of a settings file, whose models may be of the file or of the database. */
import type { LateProblem } from "../config/file.js";
import { unknownModel } from "../config/references.js";
import type { Settings } from "../config/settings.js";
import { hasModel } from "../config/wildcards.js";
import type { ObjectSet } from "../settings/object.js";

/** The aliases whose model neither the file nor the database has. */
export function aliasProblems({ aliases, models }: Settings, { entries }: ObjectSet): LateProblem[] {
  const ofDatabase = [...entries.values()].filter(({ kind }) => kind === "model");
  const known = new Set([...models.map(({ id }) => id), ...ofDatabase.map(({ name }) => name)]);
  return aliases
    .filter(({ model }) => !hasModel(known, model))
    .map(({ id, model }) => ({ path: ["aliases", id, "model"], rule: unknownModel(model, known) }));
}
