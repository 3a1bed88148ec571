/** Settings objects over a store, for cores that serve nothing by them. */
import { randomBytes } from "node:crypto";
import { SecretSeal } from "../../src/alerts/seal.js";
import { UpstreamTestResult } from "../../src/api/index.js";
import { NO_SETTINGS } from "../../src/config/settings.js";
import { families } from "../../src/families/index.js";
import type { ObjectBoard } from "../../src/rpc/call/core.js";
import { DatabaseObjects } from "../../src/serve/object-board.js";
import { SettingsObjects } from "../../src/settings/settings-objects.js";
import type { Store } from "../../src/store/store.js";

const NOTHING = {
  unserved: [],
  unservedAliases: [],
  unconnected: [],
  sold: [],
  prices: new Map(),
  listPrices: new Map(),
  commit: () => undefined,
  discard: () => undefined,
};
const UNTESTED = {
  result: UpstreamTestResult.UPSTREAM_TEST_RESULT_UNTESTED,
  problem: "",
  httpStatus: 0,
  durationMs: 0n,
  models: [],
};

export function objectsOver(store: Pick<Store, "people">, nowMs: () => number): ObjectBoard {
  const seal = new SecretSeal({ keys: [randomBytes(32)] });
  return new DatabaseObjects({
    objects: new SettingsObjects({ store: store.people, seal, env: {}, nowMs }),
    routes: { prepare: () => Promise.resolve(NOTHING), tryUpstream: () => Promise.resolve(UNTESTED) },
    served: () => ({ models: new Map(), upstreams: new Map() }),
    file: () => new Map(),
    aside: () => new Map(),
    around: () => ({ families, outside: { upstreams: new Map(), models: new Set() }, sources: [] }),
    merged: () => NO_SETTINGS,
    use: () => Promise.resolve(),
    catchUp: () => Promise.resolve(),
  });
}
