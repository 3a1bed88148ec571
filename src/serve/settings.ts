/** Makes what keeps the settings in force, and what reports them. */
import { SecretSeal } from "../alerts/seal.js";
import type { PriceLists } from "../price-lists/price-lists.js";
import type { Routing } from "../routing/routing.js";
import { SettingsObjects } from "../settings/settings-objects.js";
import type { Store } from "../store/store.js";
import type { CoreOptions } from "./core.js";
import type { Derived } from "./root-secrets.js";
import type { RouteKeeper } from "./routes.js";
import type { SeedParts } from "./seeds.js";
import { SettingsKeeper } from "./settings-keeper.js";
import type { ThisNode } from "./this-node.js";

interface Parts {
  readonly store: Pick<Store, "audit" | "people">;
  readonly derived: Pick<Derived, "seals">;
  readonly routes: RouteKeeper;
  readonly lists: PriceLists;
  readonly routing: Routing;
  readonly node: ThisNode;
}

export function createSettings(
  { store, derived, routes, lists, routing, node }: Parts,
  seeds: SeedParts,
  { environment, log, metrics, version }: CoreOptions,
): SettingsKeeper {
  const { nowMs } = seeds;
  metrics.readSettings = () => node.settings;
  metrics.node.build(version);
  const onAccepted = (file: { readonly version: string }): void => {
    node.accepted(file.version, nowMs());
    metrics.node.reloaded(true);
  };
  const onRefused = (): void => {
    node.refused();
    metrics.node.reloaded(false);
  };
  const { settingsPath: path, secretSources } = environment;
  const { env } = process;
  const told = { onAccepted, onRefused, served: () => routing.table, nodes: async () => (await node.list()).length };
  const seal = new SecretSeal(derived.seals.settings);
  const objects = new SettingsObjects({ store: store.people, seal, env, nowMs });
  const parts = { routes, objects, lists, seeds, audit: store.audit };
  return new SettingsKeeper({ path, env, secretSources, ...parts, log, ...told });
}
