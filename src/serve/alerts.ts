/** Alerts of a core: what they watch, and where their events go. */
import { hostname } from "node:os";
import { Alerts } from "../alerts/alerts.js";
import type { Traffic } from "../alerts/traffic.js";
import type { EndedRequest, RequestFeed } from "../records/request-record.js";
import type { Routing } from "../routing/routing.js";
import type { Store } from "../store/store.js";
import { checkedUpstreams, ejectedUpstreams } from "./ejected-upstreams.js";
import type { Clocked } from "./core.js";
import type { Derived } from "./root-secrets.js";
import type { SettingsKeeper } from "./settings-keeper.js";
import type { ThisNode } from "./this-node.js";

export interface AlertParts {
  readonly store: Store;
  readonly nodeId: string;
  readonly derived: Pick<Derived, "seals">;
  readonly routing: Routing;
  readonly node: ThisNode;
  readonly requests: RequestFeed;
  readonly settings: Pick<SettingsKeeper, "alerts">;
}

const CANCELLED = "ERROR_REASON_CANCELLED";

export function startAlerts(
  { store, nodeId, derived, routing, node, requests, settings }: AlertParts,
  options: Clocked,
): Alerts {
  const { environment, log, metrics, version, clock, requestIds } = options;
  const alerts = new Alerts({
    store,
    nodeId,
    log,
    sealKeys: derived.seals.webhooks,
    networks: environment.webhookNetworks,
    mail: environment.mail && { ...environment.mail, publicUrl: environment.publicUrl },
    makeId: requestIds,
    nowMs: clock.nowMs,
    userAgent: `Tollgate/${version}`,
    onProved: (holds) => metrics.node.proved(holds),
    fileAlerts: () => settings.alerts,
    sources: {
      ejections: () => ejectedUpstreams(routing),
      checks: () => checkedUpstreams(routing),
      models: () => [...routing.table.models.values()],
      isReloadRefused: () => node.isReloadRefused,
      clock: () => ({ machine: hostname(), skewMs: clock.skewMs }),
    },
  });
  const { traffic } = alerts.watch;
  requests.subscribe((request) => count(traffic, request));
  alerts.start();
  return alerts;
}

/** What never reached a model, and answers that came again, are no traffic of one. */
function count(traffic: Traffic, { asker, model, failure, answer, replayed, endTimeMs }: EndedRequest): void {
  if (asker === undefined || model === "" || replayed || failure?.reason === CANCELLED) return;
  const isError = failure !== undefined && failure.http >= 500;
  // Refusals of the caller say nothing of the gateway.
  if (failure !== undefined && !isError) return;
  const { accountId } = asker;
  traffic.add({
    accountId,
    model,
    upstream: answer?.upstream ?? "",
    isError,
    firstTokenMs: answer?.firstTokenMs,
    endTimeMs,
  });
}
