/**
 * The whole way of a request, from the edges to the disk, over a real ledger and a real upstream, where the call of any
 * part by another can be made to throw.
 */
import { testRequest } from "../../src/gateway/test-request.js";
import { clientWires } from "../../src/reading/readers.js";
import assert from "node:assert/strict";
import { randomBytes, randomUUID } from "node:crypto";
import { KeySettings } from "../../src/api/index.js";
import { parseSettings } from "../support/parse-settings.js";
import { createInProcessCoordination } from "../../src/coordination/in-process.js";
import { GatewayError } from "../../src/base/errors.js";
import type { Family } from "../../src/families/family.js";
import { openaiCompatible } from "../../src/families/openai-compatible.js";
import { openai } from "../../src/formats/openai.js";
import { createGateway } from "../../src/gateway/inference.js";
import { createHttpServer } from "../../src/http/server.js";
import { Keys } from "../../src/keys/keys.js";
import { Ledger, type LedgerOptions } from "../../src/ledger/ledger.js";
import { Limits } from "../../src/limits/limits.js";
import { Metrics } from "../../src/observe/metrics.js";
import { telling } from "../../src/observe/telling.js";
import { ByteBudget, OF_ANSWERS } from "../../src/base/bytes/byte-budget.js";
import { createLongAnswers } from "../../src/reading/long-answers.js";
import { createLongBodies } from "../../src/reading/long-bodies.js";
import { connectUpstreams, type LoadOptions, loadTable } from "../../src/routing/load.js";
import { createModelCatalog, createUpstreamBoard } from "../../src/routing/catalog.js";
import type { ServedUpstream, Target } from "../../src/routing/model.js";
import { Routing } from "../../src/routing/routing.js";
import { createDispatcher, type Dispatcher } from "../../src/rpc/methods/service-table.js";
import { createInProcessChannel } from "../../src/rpc/transport/in-process-channel.js";
import { createGrpcServer } from "../../src/rpc/transport/server.js";
import { openTestStore } from "../support/open-test-store.js";
import type { Store } from "../../src/store/store.js";
import { createHttpUpstream } from "../../src/upstream/http.js";
import { wire } from "../../src/wire/openai-chat/index.js";
import { settingsFor } from "../support/world.js";
import { alertsOver } from "../support/alerts-over.js";
import { Faults } from "./faults.js";
import { TEST_ACT } from "../support/acts.js";
import { identityOver } from "../support/identity-over.js";
import { cardsOver } from "../support/cards-over.js";
import { topUpOver } from "../support/top-up-over.js";
import { SURFACES } from "../../src/wire/surfaces.js";
import { affinity, limiter, promptCaches } from "../support/prompt-caches.js";

const TIMEOUTS = {
  totalMs: 60_000,
  firstTokenMs: 60_000,
  wholeMs: 60_000,
  idleMs: 60_000,
  lingerMs: 60_000,
  readOnMs: 1_000,
};
const OUTPUT_TOKENS_MAX = 10_000;
export const CREDIT = 10_000_000_000n;
const SILENT = { debug: nothing, info: nothing, warn: nothing, error: nothing };
const NAMES = { admit: "admission", hold: "hold", readRequest: "request", deadline: "deadline" };
const ONE_SLOT = { concurrency: 1, requestsPerMinute: 0, tokensPerMinute: 0 };
/** With a limit of one request at once, a slot that is not given back refuses the next. */
const KEY = { scopes: ["chat"], concurrency: 1n, requestsPerMinute: 1_000_000n, tokensPerMinute: 1_000_000_000n };

function nothing(): void {
  // What is told is another test's.
}

/** What a request leaves behind it, where anything is wrong. */
export interface Remains {
  /** Holds that its node answers for, until their ends are in the database: one may not be written yet. */
  readonly holds: number;
  /** Slots of its key. */
  readonly slots: number;
  /** Requests and attempts, as they are counted. */
  readonly requests: number;
  readonly attempts: number;
  /** Answers that are read on. */
  readonly drains: number;
}

export interface FaultyCore {
  readonly faults: Faults;
  readonly ledger: Ledger;
  readonly store: Store;
  readonly secret: string;
  readonly httpUrl: string;
  readonly grpcAddress: string;
  /** The id of the request that came last. */
  requestId(): string;
  remains(): Remains;
  /** Forgets what earlier faults taught of the upstream. */
  forgive(): void;
  close(): Promise<void>;
}

/** One model, `fake-1`, of the upstream at `url`, in a directory that is new. */
export async function openFaultyCore(
  url: string,
  directory: string,
  more: Partial<LedgerOptions> = {},
): Promise<FaultyCore> {
  const faults = new Faults();
  const metrics = new Metrics();
  const nowMs = Date.now;
  const store = await openTestStore(directory);
  const ledger = new Ledger({ store: flaky(store, faults), nodeId: randomUUID(), nowMs, ...more });
  await ledger.start();
  await ledger.createAccount({ id: "acme", name: "Acme" }, TEST_ACT);
  await ledger.credit({ creditId: "c1", accountId: "acme", amountNanos: CREDIT, act: TEST_ACT });
  const coordination = createInProcessCoordination({ nowMs: () => performance.now() });
  const keys = new Keys({ store, coordination, rootSecret: randomBytes(32), nowMs, randomBytes });
  const settings = { ...KeySettings.decode(new Uint8Array()), ...KEY };
  const { secret, key } = await keys.create({ accountId: "acme", settings }, TEST_ACT);
  let drains = 0;
  let latestId = "";
  const { routing, disconnect } = await openRouting(url, faults, (running) => (drains = running));
  const limits = new Limits({ coordination });
  const longBodies = createLongBodies();
  const longAnswers = createLongAnswers();
  const steps = {
    wires: new Map([[wire.name, faults.watch("wire", wire, NAMES)]]),
    embeddingWires: new Map(),
    surfaces: SURFACES,
    longBodies,
    longAnswers,
    answerMemory: new ByteBudget(64 * 1024 * 1024, OF_ANSWERS),
    routing: faults.watch("routing", routing, {}, { "run 3": "meter" }),
    limits,
    quotas: { take: () => undefined },
    ledger,
    log: SILENT,
    metrics,
    nowMs,
  };
  const gateway = createGateway(faults.watch("steps", steps, NAMES));
  const dispatcher = createDispatcher({
    alerts: alertsOver(store),
    keys,
    identity: identityOver(store, { coordination, keys, nowMs }),
    topUpCodes: topUpOver(store, { coordination, ledger, nowMs }),
    cardPayments: cardsOver(store, { coordination, ledger, nowMs }),
    ledger,
    store: { requests: ledger.requests, audit: store.audit, figures: store.figures },
    gateway: faults.watch("gateway", gateway, {}, { "streamGenerate 2": "sink" }),
    limits,
    models: createModelCatalog(routing),
    upstreams: createUpstreamBoard(routing, { nodeId: () => "node_1", dateMs: Date.now }, testRequest(clientWires)),
    nodes: { list: () => Promise.resolve([]) },
    requestIds: () => (latestId = randomUUID().replaceAll("-", "")),
    nowMs,
    frontTokens: [],
  });
  const edges = await openEdges(dispatcher);
  const demand = { subject: `key ${key.id}`, limits: ONE_SLOT, tokens: 0 };
  const upstreams = (): ServedUpstream[] => [...routing.table.upstreams.values()];
  return {
    faults,
    ledger,
    store,
    secret,
    httpUrl: edges.httpUrl,
    grpcAddress: edges.grpcAddress,
    requestId: () => `req_${latestId}`,
    remains: () => {
      const peeked = coordination.peek({ requestId: "probe", accountId: "acme", demands: [demand] });
      assert(!(peeked instanceof Promise));
      const attempts = upstreams().reduce((sum, { health }) => sum + health.running, 0);
      const holds = ledger.lease.openHoldCount;
      return { holds, slots: peeked.admitted ? 0 : 1, requests: metrics.running, attempts, drains };
    },
    forgive: () => {
      for (const { health } of upstreams()) health.reset();
    },
    close: async () => {
      faults.begin(undefined);
      await edges.close();
      await ledger.close();
      await disconnect();
      await longBodies.close();
      await longAnswers.close();
      await coordination.close();
      await store.close();
    },
  };
}

async function openEdges(dispatcher: Dispatcher): Promise<{
  readonly httpUrl: string;
  readonly grpcAddress: string;
  readonly close: () => Promise<void>;
}> {
  const http = await createHttpServer({
    channel: createInProcessChannel(dispatcher),
    formats: [openai],
    requestIds: () => `req_front_${randomUUID()}`,
    log: SILENT,
    metrics: { observe: () => undefined },
    ready: () => true,
  });
  const grpc = createGrpcServer({ dispatcher });
  const [atHttp, atGrpc] = [await http.listen("127.0.0.1", 0), await grpc.listen("127.0.0.1:0")];
  return {
    httpUrl: `http://127.0.0.1:${atHttp.port}`,
    grpcAddress: `127.0.0.1:${atGrpc.port}`,
    close: async () => {
      await http.drain(0);
      await grpc.drain(0);
    },
  };
}

/** The store, whose commits can fail before they begin and, of settlements, after they are done. */
function flaky(store: Store, faults: Faults): Store {
  const commit: Store["ledger"]["commit"] = async (operations) => {
    const kinds = new Set(operations.map(({ kind }) => kind));
    try {
      for (const kind of kinds) faults.pass(`before the commit of a ${kind}`);
      const results = await store.ledger.commit(operations);
      for (const kind of kinds) if (kind === "settle") faults.pass("after the commit of a settle");
      return results;
    } catch (error) {
      throw new GatewayError("ERROR_REASON_LEDGER_UNAVAILABLE", {}, { cause: error });
    }
  };
  return { ...store, ledger: { ...store.ledger, commit } };
}

async function openRouting(
  url: string,
  faults: Faults,
  onDrains: (running: number) => void,
): Promise<{ readonly routing: Routing; readonly disconnect: () => Promise<void> }> {
  const names = { decodeStream: "decoder", decodeAnswer: "answer" };
  const family: Family = { ...openaiCompatible, wire: faults.watch("upstream wire", { ...wire }, names) };
  const options: LoadOptions = {
    families: [faults.watch("family", family, { wire: "upstream wire" })],
    environment: {},
    connect: (baseUrl) =>
      faults.watch("upstream", createHttpUpstream({ baseUrl, connections: 10 }), { send: "exchange" }),
    known: () => Promise.resolve(new Map()),
    facts: () => Promise.resolve({}),
    published: () => Promise.resolve({ known: () => undefined, facts: () => ({}) }),
    nowMs: Date.now,
    onHealth: () => undefined,
  };
  const heard = faults.watch("events", {
    onAttempt: nothing,
    onUnknownMember: nothing,
    onReadOn: (_target: Target, _step: string, running: number) => onDrains(running),
  });
  const routing = new Routing({
    affinity,
    limiter,
    promptCaches,
    nowMs: () => performance.now(),
    random: () => 0,
    timeouts: TIMEOUTS,
    listed: () => undefined,
    onAttempt: telling(SILENT, () => heard.onAttempt()),
    onUnknownMember: telling(SILENT, () => heard.onUnknownMember()),
    onReadOn: telling(SILENT, (...told) => heard.onReadOn(...told)),
  });
  const settings = parseSettings(settingsFor(url, OUTPUT_TOKENS_MAX), {});
  const { upstreams } = connectUpstreams(settings, new Map(), options);
  const { table } = await loadTable(settings, upstreams, new Map(), options);
  routing.replace(table);
  const disconnect = async (): Promise<void> => {
    for (const { upstream } of upstreams.values()) await upstream.close();
  };
  return { routing, disconnect };
}
