/** Alerts over a store of a test, which look at nothing by themselves. */
import { randomBytes, randomUUID } from "node:crypto";
import { Alerts, type AlertsOptions } from "../../src/alerts/alerts.js";

const SILENT = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

export function alertsOver(store: AlertsOptions["store"], options: Partial<AlertsOptions> = {}): Alerts {
  return new Alerts({
    store,
    nodeId: randomUUID(),
    log: SILENT,
    sealKeys: { keys: [randomBytes(32)] },
    networks: [],
    makeId: () => randomUUID().replaceAll("-", ""),
    nowMs: Date.now,
    userAgent: "Tollgate/test",
    ...options,
  });
}
