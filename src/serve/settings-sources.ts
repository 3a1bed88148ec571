/** Where each thing that the settings file or the environment names is decided. */
import { type NamedSetting, SettingsSource } from "../api/index.js";
import type { Settings } from "../config/settings.js";
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

export async function namedSettings(
  { settings, keyIds }: { readonly settings: Settings; readonly keyIds: Applied["keyIds"] },
  served: Served,
  seeds: SeedParts,
): Promise<NamedSetting[]> {
  const { accounts, keys } = await seedDifferences(seeds, settings, keyIds);
  return [
    ...routed("upstream", settings.upstreams, served.upstreams, ENVIRONMENT),
    ...routed("model", settings.models, served.models, UPSTREAM),
    ...settings.accounts.map(({ id }, index) => inDatabase("account", id, accounts[index] ?? [])),
    ...settings.keys.map(({ accountId, settings: { name } }, index) =>
      inDatabase("key", name || accountId, keys[index] ?? []),
    ),
    ...settings.identity.issuers.map(({ name }) => ({ block: "issuer", name, source: FILE, difference: "" })),
    ...settings.alerts.map(({ name }) => ({ block: "alert", name, source: FILE, difference: "" })),
  ];
}

/** Those of the file, and those that are served beside them, which something else decides. */
function routed(
  block: string,
  named: readonly { readonly id: string }[],
  served: ReadonlyMap<string, unknown>,
  otherwise: SettingsSource,
): readonly NamedSetting[] {
  const ofFile = new Set(named.map(({ id }) => id));
  const others = [...served.keys()].filter((id) => !ofFile.has(id));
  const all = [...[...ofFile].map((id) => [id, FILE] as const), ...others.map((id) => [id, otherwise] as const)];
  return all.map(([name, source]) => ({ block, name, source, difference: "" }));
}

function inDatabase(block: string, name: string, differences: readonly string[]): NamedSetting {
  return { block, name, source: DATABASE, difference: differences.join("; ") };
}
