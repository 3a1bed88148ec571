/** Builds the core: everything behind the gRPC services, from the store to the routes. */
import { monotonicMs } from "../base/monotonic.js";
import { randomBytes, randomUUID } from "node:crypto";
import type { Clock } from "../clock/clock.js";
import type { Environment } from "../config/environment.js";
import type { Coordination } from "../coordination/coordination.js";
import { createGateway } from "../gateway/inference.js";
import { Replays } from "../gateway/replay/replays.js";
import { KeyUses } from "../keys/key-uses.js";
import { Keys } from "../keys/keys.js";
import { TrustedProxies } from "../keys/proxies.js";
import { Ledger } from "../ledger/ledger.js";
import { Limits } from "../limits/limits.js";
import { Quotas } from "../limits/quotas.js";
import type { Log } from "../observe/log.js";
import type { Metrics } from "../observe/metrics.js";
import { createModelCatalog } from "../routing/catalog.js";
import type { RequestFeed } from "../records/request-record.js";
import { Routing } from "../routing/routing.js";
import { createDispatcher, type Dispatcher } from "../rpc/methods/service-table.js";
import { ByteBudget, OF_ANSWERS } from "../base/bytes/byte-budget.js";
import { createLongAnswers } from "../reading/long-answers.js";
import { createLongBodies } from "../reading/long-bodies.js";
import { requestWires } from "../reading/readers.js";
import { closeTokenCounter } from "../pricing/tokens.js";
import type { Store } from "../store/store.js";
import { startAlerts } from "./alerts.js";
import { machineMs, startClock } from "./clock.js";
import { startCoordination } from "./coordination.js";
import { DatabaseOutage } from "./database-outage.js";
import type { DescriptorWatch } from "./descriptor-watch.js";
import { createPeople } from "./people.js";
import { ledgerEvents } from "./ledger-events.js";
import { requestIdsBy } from "./request-id.js";
import { type Derived, watchRotation } from "./root-secrets.js";
import { firstStart, type ShownOnce } from "./seeds.js";
import { createSettings } from "./settings.js";
import type { SettingsKeeper } from "./settings-keeper.js";
import { NodeTelling } from "./node-telling.js";
import { nodeReadings } from "./node-readings.js";
import { CreditLineTimer } from "./credit-line-timer.js";
import { NightlyExport, type NightlyExportOptions } from "./nightly-export.js";
import { startPrices } from "./prices.js";
import { readinessOf } from "./readiness.js";
import { openRecords } from "./records.js";
import { openStorage, refuseSecondNode, type Storage } from "./storage.js";
import { ThisNode } from "./this-node.js";
import { openTracing } from "./tracing.js";
import { startUpstreams } from "./upstream-checks.js";
import { createRoutes } from "./core-routes.js";

/**
 * A batch of the embedded database costs this machine a sync of its disk: batches gather for twice as long as those
 * that PostgreSQL writes, which may be far away.
 */
const EMBEDDED_PATIENCE_MS = 20;
export interface CoreOptions {
  readonly environment: Environment;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Hears of what failed for want of a file descriptor. */
  readonly descriptors: Pick<DescriptorWatch, "met">;
  readonly demo: boolean;
  /** Starts also where the data directory has lost state. */
  readonly acceptLoss: boolean;
  /** True of a worker whose state another process of this machine owns. */
  readonly isOwned: boolean;
  /** Takes the machine's time of day also where the embedded store has seen a later one. */
  readonly acceptClock: boolean;
  /** The version of the program. */
  readonly version: string;
  /** Called once where the disk failed under the ledger, or its owner ended: the process must end. */
  readonly onFatal: (error: Error) => void;
}

/** With the log of the parts that use the database, and whether that is away. */
export interface WatchedOptions extends CoreOptions {
  readonly outage: DatabaseOutage;
}

/** With the clock that every part of a core is given. */
export interface Clocked extends WatchedOptions {
  readonly clock: Clock;
  /** Makes the ids of requests, by that clock. */
  readonly requestIds: () => string;
}

export interface Core {
  readonly dispatcher: Dispatcher;
  /** Tells of each request when it is over. */
  readonly requests: RequestFeed;
  readonly shown: ShownOnce & { readonly welcomeToken: string | undefined };
  readonly frontToken: string;
  /** Makes the ids of requests, by the clock that their records go by. */
  readonly requestIds: () => string;
  /** What this node is. */
  readonly node: ThisNode;
  /** Reads the settings file once more. Never rejects. */
  reload(): Promise<void>;
  /** True while calls that cost money can be served. Never rejects. */
  ready(): Promise<boolean>;
  close(): Promise<void>;
}

export async function startCore(options: CoreOptions): Promise<Core> {
  const nodeId = randomUUID();
  const outage = new DatabaseOutage(options.log, monotonicMs);
  const watched = { ...options, outage, log: outage.log };
  const storage = await openStorage(nodeId, watched);
  const clock = await startClock(storage.time, outage.log);
  return coreOver(nodeId, storage, { ...watched, clock, requestIds: requestIdsBy(clock.nowMs) });
}

async function coreOver(nodeId: string, storage: Storage, options: Clocked): Promise<Core> {
  const { environment, log, metrics, clock, requestIds, outage } = options;
  const { nowMs } = clock;
  const { derived, store, answers, journals, nodes, owner } = storage;
  const tracing = await openTracing(process.env, { version: options.version, instanceId: nodeId, log });
  const coordination = await startCoordination(options, owner);
  const keys = createKeys(store, coordination, derived, options);
  const ledger = await startLedger({ store, journals }, nodeId, options);
  const { lists, routing, routes, spending } = createRoutes({ store, coordination, derived }, options);
  const node = new ThisNode({ notes: nodes, version: options.version, startTimeMs: nowMs(), routing, ledger, clock });
  const settings = createSettings({ store, derived, routes, lists, routing, node }, { keys, ledger, nowMs }, options);
  await settings.start();
  const notes = startTelling(node, nodes, options);
  // Credit that a stranger's first call could spend at a real upstream is the operator's to give.
  const demo = options.demo && !asksRealUpstreams(routing);
  const shown = await firstStart({ keys, ledger, nowMs }, environment.operatorKey, demo);
  const people = createPeople({ store, coordination, keys, ledger, settings, node }, derived, options);
  const limiting = createLimits({ store, coordination }, options);
  const reading = startReading(environment);
  metrics.node.attach(nodeReadings({ ledger, store, routing, ...reading, settings, clock, outage }));
  const gateway = createGateway({ ...requestWires, ...reading, ...limiting, routing, ledger, log, metrics, nowMs });
  const { requests, records } = await openRecords(options, derived, tracing, owner, ledger);
  const keyUses = noteKeyUses(store, requests, log);
  const replays = createReplays({ ledger, coordination }, derived, answers, options);
  const alerts = startAlerts({ store, nodeId, derived, routing, node, requests, settings }, options);
  const upstreams = startUpstreams({ routing, coordination, settings, ledger, nowMs }, options);
  const nightly = startNightlyWork({ store, ledger, nodeId, nowMs }, settings, log);
  const prices = startPrices({ store: store.people, lists, settings }, options);
  const endRotationWatch = watchRotation({ keys, settings, ...people.identity }, derived, log);
  const dispatcher = createDispatcher({
    keys,
    ...people,
    ledger,
    store: readsOf(store, ledger),
    ...settings.boards,
    prices: prices.board,
    keyUses,
    gateway,
    ...limiting,
    replays,
    models: createModelCatalog(routing),
    upstreams: upstreams.board,
    nodes: node,
    alerts,
    requestIds,
    nowMs,
    frontTokens: derived.frontTokens,
    proxies: proxiesOf(environment),
    log,
    requests,
    records,
  });
  return {
    dispatcher,
    requests,
    shown: { ...shown, welcomeToken: await people.identity.firstOperatorLink() },
    frontToken: derived.frontTokens[0] ?? "",
    requestIds,
    node,
    reload: () => settings.reload(),
    ready: readinessOf({ store, ledger, outage, monotonicMs }),
    close: () => {
      endRotationWatch();
      const { topUpCodes, cardPayments } = people;
      const first = [settings, prices, nightly, notes, topUpCodes, cardPayments, keyUses, alerts, replays];
      const later = [upstreams, ledger, records, routes, coordination, { close: closeTokenCounter }, reading, clock];
      return closeEach([...first, ...later, limiting.quotas, spending, store, journals, tracing]);
    },
  };
}

/** The threads that read what is too long for the event loop, and the memory for answers. */
function startReading({ bodyMemoryBytes }: Environment) {
  const longBodies = createLongBodies();
  const longAnswers = createLongAnswers();
  const close = (): Promise<void> => closeEach([longBodies, longAnswers]);
  return { longBodies, longAnswers, answerMemory: new ByteBudget(bodyMemoryBytes, OF_ANSWERS), close };
}

/** Requests through the ledger, so that a client that asks after its answer sees what it paid. */
function readsOf({ audit, figures }: Store, { requests }: Ledger): Pick<Store, "requests" | "audit" | "figures"> {
  return { requests, audit, figures };
}

/** What happens once for each UTC day: the export of the day before, and the renewal of credit lines. */
function startNightlyWork(
  parts: Pick<NightlyExportOptions, "store" | "nodeId" | "nowMs"> & { readonly ledger: Ledger },
  settings: SettingsKeeper,
  log: Log,
): { close(): Promise<void> } {
  const nightly = new NightlyExport({ ...parts, settings: () => settings.exports, log });
  nightly.start();
  const lines = new CreditLineTimer({ lines: parts.ledger.creditLines, nowMs: parts.nowMs, log });
  return { close: () => closeEach([nightly, lines]) };
}

/** Nobody is told where this node is alone. */
function startTelling(node: ThisNode, nodes: Storage["nodes"], { log, metrics }: CoreOptions): NodeTelling {
  const nodeTelling = new NodeTelling(node, log);
  if (nodes === undefined) return nodeTelling;
  metrics.readDiffering = () => nodeTelling.differing;
  nodeTelling.start();
  return nodeTelling;
}

/** A key is used where a request of its ended, refused or not; other calls are noted as they come. */
function noteKeyUses(store: Store, requests: RequestFeed, log: Log): KeyUses {
  const uses = new KeyUses(store.figures, (err) => log.warn({ err }, "last uses of keys could not be written"));
  requests.subscribe(({ asker, endTimeMs }) => {
    if (asker !== undefined) uses.used(asker.keyId, endTimeMs);
  });
  return uses;
}

/** One after the other: each may need those behind it. */
async function closeEach(parts: readonly ({ close(): Promise<unknown> } | undefined)[]): Promise<void> {
  for (const part of parts) await part?.close();
}

/** True where an upstream is reached over the network, and so may cost money. */
function asksRealUpstreams({ table }: Routing): boolean {
  return [...table.upstreams.values()].some(({ family }) => family.connect === undefined);
}

/** The proxies in front; undefined where there are none. */
export function proxiesOf({ trustedProxies }: Environment): TrustedProxies | undefined {
  return trustedProxies.length === 0 ? undefined : new TrustedProxies(trustedProxies);
}

function createKeys(
  store: Store,
  coordination: Coordination,
  { secrets }: Derived,
  { log, clock: { nowMs } }: Clocked,
): Keys {
  const onPublishError = (err: unknown): void =>
    log.warn({ err }, "a changed key reaches other nodes only when their cached copy expires");
  const onRewriteError = (err: unknown, key: string): void =>
    log.warn({ err, key }, "the key's digest still needs TOLLGATE_SECRET_PREVIOUS");
  return new Keys({ store, coordination, ...secrets, nowMs, randomBytes, onPublishError, onRewriteError });
}

/** What requests are taken into before money is held for them. */
function createLimits(
  { store, coordination }: { readonly store: Store; readonly coordination: Coordination },
  { log, clock: { nowMs } }: Clocked,
): { readonly limits: Limits; readonly quotas: Quotas } {
  const onLost = (err: unknown): void =>
    log.warn({ err }, "quotas count the most that a request could use until their windows end");
  return { limits: new Limits({ coordination }), quotas: new Quotas({ store: store.people, nowMs, onLost }) };
}

async function startLedger(
  { store, journals }: Pick<Storage, "store" | "journals">,
  nodeId: string,
  options: Clocked,
): Promise<Ledger> {
  const { environment, log, metrics, clock } = options;
  const limits = {
    leaseNanosMax: environment.leaseNanosMax,
    settlePatienceMs: environment.databaseUrl === undefined ? EMBEDDED_PATIENCE_MS : undefined,
  };
  // An embedded database is away where its disk is, and the journal with it.
  const journal = environment.databaseUrl === undefined ? undefined : journals;
  const { intents } = journals ?? {};
  const told = { log, ...ledgerEvents(log, metrics) };
  const times = { nowMs: clock.nowMs, machineMs };
  const ledger = new Ledger({ store, nodeId, ...times, journal, intents, ...limits, ...told });
  metrics.readLeases = () => ledger.leases.held;
  metrics.readJournaled = () => ledger.journaled;
  await ledger.start();
  try {
    await refuseSecondNode(ledger, options);
  } catch (error) {
    // Its row would look like a node that died.
    await ledger.close();
    throw error;
  }
  return ledger;
}

/** Keeps answers beside the ledger, sealed with a key of their own. */
function createReplays(
  { ledger, coordination }: { readonly ledger: Ledger; readonly coordination: Coordination },
  { answerRoots }: Derived,
  openAnswers: Storage["answers"],
  { log, metrics, clock: { nowMs } }: Clocked,
): Replays {
  const onLost = (err: unknown): void => {
    metrics.answersLost.inc();
    log.error({ err }, "an answer with an Idempotency-Key could not be kept");
  };
  const store = openAnswers({
    nowMs,
    onSwept: ({ rows, recordBytes, evicted }) => {
      metrics.answerKeys.set(rows);
      metrics.answerBytes.set({ place: "disk" }, recordBytes);
      metrics.answersEvicted.inc(evicted);
    },
    onError: onLost,
  });
  return new Replays({
    store,
    rootSecrets: answerRoots,
    randomBytes,
    nowMs,
    requestOf: (requestId) => ledger.requests.get(requestId),
    onBytes: (bytes) => metrics.answerBytes.set({ place: "memory" }, bytes),
    onLost,
    relays: coordination.relays,
  });
}
