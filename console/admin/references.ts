/** Which objects refer to another one, and what becomes of them where it gets another name. */
import { useQuery } from "@tanstack/react-query";
import { listObjects, type ObjectChange } from "../../gen/console/settings_service.js";
import type { SettingsObject } from "../../gen/console/settings_object.js";
import type { RequestFields } from "../api/client.ts";
import { ask } from "../api/queries.ts";

/** The models of the database whose targets name an upstream; undefined until they are known. None refer to a model. */
export function useReferring({ kind, name }: SettingsObject): readonly SettingsObject[] | undefined {
  const { data } = useQuery({ ...ask(listObjects, { kind: "model" }), enabled: kind === "upstream" });
  if (kind !== "upstream") return [];
  return data?.objects.filter(({ model }) => model?.targets.some(({ upstream }) => upstream === name));
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
      set: { name: one.name, model: redirected(one, before, name) },
      etag: one.etag,
    })),
    { delete: { kind, name: before }, etag },
  ];
}

function redirected({ model }: SettingsObject, from: string, to: string): RequestFields<SettingsObject>["model"] {
  const targets = model?.targets.map((target) => (target.upstream === from ? { ...target, upstream: to } : target));
  return { ...model, targets: targets ?? [] };
}
