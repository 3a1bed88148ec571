/** The routes of a core, with all that they need. */
import { monotonicMs } from "../base/monotonic.js";
import type { Coordination } from "../coordination/coordination.js";
import type { GatewayError } from "../base/errors.js";
import { telling } from "../observe/telling.js";
import { PriceLists } from "../price-lists/price-lists.js";
import { listedModel } from "../pricing/known-models.js";
import { REQUEST_MS_MAX, REQUEST_TIMEOUTS } from "../routing/deadline.js";
import type { LoadOptions } from "../routing/load.js";
import type { Target } from "../routing/model.js";
import { SessionAffinity } from "../routing/affinity.js";
import { PromptCaches } from "../routing/prompt-caches.js";
import { Routing } from "../routing/routing.js";
import { StoredSpending } from "../routing/stored-spending.js";
import { TargetLimiter } from "../routing/target-limiter.js";
import type { Store } from "../store/store.js";
import { isDescriptorError } from "../upstream/upstream.js";
import { UpstreamRefusal } from "../wire/error/upstream-refusal.js";
import { ejectedUpstreams } from "./ejected-upstreams.js";
import { shareHealth, takeCoolDown } from "./cool-downs.js";
import { HealthLog } from "./health-log.js";
import { createLoadOptions } from "./load-options.js";
import { type Derived } from "./root-secrets.js";
import { RouteKeeper } from "./routes.js";
import type { Clocked } from "./core.js";

/** Tells operators of an upstream's health, and the other nodes what they too must heed. */
function onHealth(healthLog: HealthLog, coordination: Coordination): LoadOptions["onHealth"] {
  return (upstream, model, change) => {
    healthLog.note(upstream, model, change);
    shareHealth(coordination, upstream, model, change);
  };
}

interface RouteParts {
  readonly store: Store;
  readonly coordination: Coordination;
  readonly derived: Derived;
}

/** What requests are routed with, and the published prices that routes are made with. */
export function createRoutes({ store, coordination, derived }: RouteParts, options: Clocked) {
  const { log, metrics, clock } = options;
  const { nowMs } = clock;
  const healthLog = new HealthLog(log, metrics, monotonicMs);
  const lists = new PriceLists({ store: store.people, nowMs });
  const { spending, limiter } = limitTargets(store, coordination, options);
  const routing = createRouting(options, derived, { lists, limiter, healthLog });
  coordination.onCoolDown((coolDown) => takeCoolDown(routing, coolDown));
  const load = createLoadOptions(process.env, nowMs, telling(log, onHealth(healthLog, coordination)), () => lists.list);
  return { lists, routing, spending, routes: new RouteKeeper(routing, load, log, REQUEST_MS_MAX) };
}

interface RoutingParts {
  readonly lists: PriceLists;
  readonly limiter: TargetLimiter;
  readonly healthLog: HealthLog;
}

function createRouting(
  { metrics, log, descriptors, clock: { nowMs } }: Clocked,
  { cacheRoot, affinityRoot }: Derived,
  { lists, limiter, healthLog }: RoutingParts,
): Routing {
  const routing = new Routing({
    nowMs: monotonicMs,
    dateMs: nowMs,
    random: Math.random,
    timeouts: REQUEST_TIMEOUTS,
    listed: (pricedAs, id) => listedModel(pricedAs, id, nowMs(), lists.list),
    onAttempt: telling(log, (target: Target, error: GatewayError | undefined) => {
      const result = error === undefined ? "ok" : error.reasonWord;
      metrics.attempts.add(target.served.id, result);
      if (isDescriptorError(error?.cause)) descriptors.met();
      const refusal = error?.cause;
      if (refusal instanceof UpstreamRefusal && refusal.kind === "forbidden")
        healthLog.refusedAsOurs(target.served.id, target.model, refusal);
    }),
    onUnknownMember: telling(log, (upstream: string, member: string, isFirst: boolean) => {
      metrics.unknownMembers.add(upstream, member);
      if (isFirst) log.info({ upstream, member }, "a request contains a member that the gateway does not know");
    }),
    onUnpriced: telling(log, (wildcard: string) => metrics.unpricedModels.inc({ wildcard })),
    promptCaches: new PromptCaches(cacheRoot),
    affinity: new SessionAffinity(affinityRoot),
    limiter,
    onReadOn: telling(log, (target: Target, step: string, running: number) => {
      metrics.readOn.inc({ upstream: target.served.id, result: step });
      metrics.readOnRunning.set(running);
    }),
  });
  metrics.readEjections = () => ejectedUpstreams(routing);
  return routing;
}

/** Rates and places of targets are taken as those of keys, and what the operator spends is read from the database. */
function limitTargets({ figures }: Store, coordination: Coordination, { log, clock: { nowMs } }: Clocked) {
  const onError = (err: unknown): void =>
    log.warn({ err }, "the spending at upstreams could not be written; it is written with the next try");
  const spending = new StoredSpending({ store: figures, nowMs, onError });
  return { spending, limiter: new TargetLimiter({ coordination, spending, nowMs: monotonicMs }) };
}
