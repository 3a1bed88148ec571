/** Where each thing that the settings file or the environment names is decided. */
import { type NamedSetting, SettingsSource } from "../api/index.js";
import type { Settings } from "../config/settings.js";
import { idOf } from "../settings/object.js";
import { type Applied, seedDifferences, type SeedParts } from "./seeds.js";

const FILE = SettingsSource.SETTINGS_SOURCE_FILE;
const ENVIRONMENT = SettingsSource.SETTINGS_SOURCE_ENVIRONMENT;
const UPSTREAM = SettingsSource.SETTINGS_SOURCE_UPSTREAM;
const DATABASE = SettingsSource.SETTINGS_SOURCE_DATABASE;

/** What is served: names of upstreams and models. */
export interface Served {
  readonly upstreams: ReadonlyMap<string, unknown>;
  readonly models: ReadonlyMap<string, unknown>;
}

/** What settings name, and by which objects of the database. */
export interface Named {
  readonly settings: Settings;
  readonly keyIds: Applied["keyIds"];
  /** By `idOf`. */
  readonly objects: ReadonlyMap<string, unknown>;
}

export async function namedSettings(
  { settings, keyIds, objects }: Named,
  served: Served,
  seeds: SeedParts,
): Promise<NamedSetting[]> {
  const { accounts, keys } = await seedDifferences(seeds, settings, keyIds);
  // What a file made once is the database's since.
  const source = settings.manage ? FILE : DATABASE;
  const seeded = (block: string, name: string, differences: readonly string[] = []): NamedSetting => {
    return { block, name, source, difference: differences.join("; ") };
  };
  const named = (block: "alias" | "plan" | "issuer", name: string): NamedSetting => {
    const isOfDatabase = objects.has(idOf({ kind: block, name }));
    return { block, name, source: isOfDatabase ? DATABASE : FILE, difference: "" };
  };
  return [
    ...routed("upstream", settings.upstreams, served.upstreams, { objects, otherwise: ENVIRONMENT }),
    ...routed("model", settings.models, served.models, { objects, otherwise: UPSTREAM }),
    ...settings.aliases.map(({ id }) => named("alias", id)),
    ...settings.plans.map(({ id }) => named("plan", id)),
    ...settings.accounts.map(({ id }, index) => seeded("account", id, accounts[index])),
    ...settings.keys.map(({ accountId, settings: { name } }, index) => seeded("key", name || accountId, keys[index])),
    ...settings.identity.issuers.map(({ name }) => named("issuer", name)),
    ...settings.alerts.map(({ name }) => ({ block: "alert", name, source: FILE, difference: "" })),
  ];
}

/** Those of the file, and those that are served beside them, which something else decides. */
function routed(
  block: "upstream" | "model",
  named: readonly { readonly id: string }[],
  served: ReadonlyMap<string, unknown>,
  { objects, otherwise }: { readonly objects: Named["objects"]; readonly otherwise: SettingsSource },
): readonly NamedSetting[] {
  const ofFile = new Set(named.map(({ id }) => id));
  const others = [...served.keys()].filter((id) => !ofFile.has(id));
  const sourceOf = (id: string, source: SettingsSource): readonly [string, SettingsSource] => [
    id,
    objects.has(idOf({ kind: block, name: id })) ? DATABASE : source,
  ];
  const all = [...[...ofFile].map((id) => sourceOf(id, FILE)), ...others.map((id) => sourceOf(id, otherwise))];
  return all.map(([name, source]) => ({ block, name, source, difference: "" }));
}
