/** Which objects refer to another one, and what becomes of them where it gets another name. */
import { useQuery } from "@tanstack/react-query";
import { listObjects, type ObjectChange } from "../../gen/console/settings_service.js";
import type { SettingsObject } from "../../gen/console/settings_object.js";
import type { RequestFields } from "../api/client.ts";
import { ask } from "../api/queries.ts";

/**
 * The models of the database whose targets name an upstream, or the aliases of the database that name a model.
 * Undefined until they are known.
 */
export function useReferring({ kind, name }: SettingsObject): readonly SettingsObject[] | undefined {
  const referring = kind === "upstream" ? "model" : "alias";
  const isNamed = kind === "upstream" || kind === "model";
  const { data } = useQuery({ ...ask(listObjects, { kind: referring }), enabled: isNamed });
  if (!isNamed) return [];
  return data?.objects.filter(
    ({ source, model, alias }) =>
      source === "database" &&
      (kind === "upstream" ? model?.targets.some(({ upstream }) => upstream === name) : alias?.model === name),
  );
}

/** All that a rename changes, for one revision. A secret stays with its object. */
export function renaming(
  object: SettingsObject,
  name: string,
  referring: readonly SettingsObject[],
): readonly RequestFields<ObjectChange>[] {
  const { kind, name: before, upstream, model, etag } = object;
  // A target that names no model means the one that is called like the object.
  const targets = model?.targets.map((target) => ({ ...target, model: target.model || before }));
  const spec = model === undefined ? { upstream } : { model: { ...model, targets: targets ?? [] } };
  return [
    { set: { name, ...spec }, etag: "new", renamedFrom: before },
    ...referring.map((one): RequestFields<ObjectChange> => ({
      set: { name: one.name, ...redirected(one, before, name) },
      etag: one.etag,
    })),
    { delete: { kind, name: before }, etag },
  ];
}

/** The spec of an object that names another one, with the new name. */
function redirected({ model, alias }: SettingsObject, from: string, to: string): RequestFields<SettingsObject> {
  if (alias !== undefined) return { alias: { ...alias, model: to } };
  const targets = model?.targets.map((target) => (target.upstream === from ? { ...target, upstream: to } : target));
  return { model: { ...model, targets: targets ?? [] } };
}
