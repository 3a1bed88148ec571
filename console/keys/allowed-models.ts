/** Which models a key may use, by the globs of its settings. */
import type { KeySettings } from "../../gen/console/key_service.js";
import { GlobSet } from "../../src/keys/glob.ts";

type ModelGlobs = Pick<KeySettings, "models" | "modelsDenied">;

/** The models of a list that a key may use; without settings: all. An empty list of globs allows every model. */
export function allowedModels<Named extends { readonly id: string }>(
  models: readonly Named[],
  settings: ModelGlobs | undefined,
): readonly Named[] {
  const allowed = new GlobSet(settings === undefined || settings.models.length === 0 ? ["*"] : settings.models);
  const denied = new GlobSet(settings?.modelsDenied ?? [], true);
  return models.filter(({ id }) => allowed.matches(id) && !denied.matches(id));
}
