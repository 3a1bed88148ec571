/** Alerts of a core: what they watch, and where their events go. */
import { Alerts } from "../alerts/alerts.js";
import type { Store } from "../store/store.js";
import type { CoreOptions } from "./core.js";
import { makeRequestId } from "./request-id.js";
import type { Derived } from "./root-secrets.js";

export function startAlerts(store: Store, nodeId: string, { webhookKeys }: Derived, options: CoreOptions): Alerts {
  const { environment, log, version } = options;
  const alerts = new Alerts({
    store,
    nodeId,
    log,
    sealKeys: webhookKeys,
    networks: environment.webhookNetworks,
    makeId: makeRequestId,
    nowMs: Date.now,
    userAgent: `Tollgate/${version}`,
  });
  alerts.start();
  return alerts;
}
