/** Several cores over one store, each with a Redis connection of its own: nodes, but for their processes. */
import { testRequest } from "../../src/gateway/test-request.js";
import { randomBytes, randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CallMetadata, CallOptions } from "../../src/api/channel.js";
import { Cancellation } from "../../src/base/cancellation.js";
import { Generation, InferenceServiceService, KeyServiceService, KeySettings } from "../../src/api/index.js";
import { parseSettings } from "../support/parse-settings.js";
import { createInProcessCoordination } from "../../src/coordination/in-process.js";
import type { RedisCoordination, RedisOptions } from "../../src/coordination/redis.js";
import { GatewayError } from "../../src/base/errors.js";
import { createGateway } from "../../src/gateway/inference.js";
import { Keys, type KeyWithSecret } from "../../src/keys/keys.js";
import { Ledger } from "../../src/ledger/ledger.js";
import { Limits } from "../../src/limits/limits.js";
import { Metrics } from "../../src/observe/metrics.js";
import { ByteBudget, OF_ANSWERS } from "../../src/base/bytes/byte-budget.js";
import { createLongAnswers } from "../../src/reading/long-answers.js";
import { createLongBodies } from "../../src/reading/long-bodies.js";
import { clientWires, embeddingWires } from "../../src/reading/readers.js";
import { createModelCatalog, createUpstreamBoard } from "../../src/routing/catalog.js";
import { connectUpstreams, loadTable } from "../../src/routing/load.js";
import { Routing } from "../../src/routing/routing.js";
import { createDispatcher } from "../../src/rpc/methods/service-table.js";
import { createInProcessChannel } from "../../src/rpc/transport/in-process-channel.js";
import { createLoadOptions } from "../../src/serve/load-options.js";
import { alertsOver } from "../support/alerts-over.js";
import { newPrefix, openRedis } from "./drivers.js";
import { TEST_ACT } from "../support/acts.js";
import { identityOver } from "../support/identity-over.js";
import { cardsOver } from "../support/cards-over.js";
import { topUpOver } from "../support/top-up-over.js";
import { openTestStore } from "../support/open-test-store.js";
import { SURFACES } from "../../src/wire/surfaces.js";
import { affinity, limiter, promptCaches } from "../support/prompt-caches.js";

export const ACCOUNT = "acme";
const SETTINGS = `
upstreams:
  sim: { family: sim }
models:
  sim-1: { targets: [{ upstream: sim }], context_tokens: 100000, output_tokens_max: 1000, price: free }
`;
const TIMEOUTS = {
  totalMs: 60_000,
  firstTokenMs: 60_000,
  wholeMs: 60_000,
  idleMs: 60_000,
  lingerMs: 1_000,
  readOnMs: 1_000,
};
const GENERATE = InferenceServiceService.generate.path;
const TO_CHAT = { operator: false, scope: "chat", reads: true };
const nothing = (): undefined => undefined;
const SILENT = { debug: nothing, info: nothing, warn: nothing, error: nothing };

/** What a request met: the headers of its answer, or its refusal. */
export type Outcome = { readonly head: CallMetadata } | { readonly error: GatewayError };

export interface NodeCore {
  readonly keys: Keys;
  readonly coordination: RedisCoordination;
  /** Runs one small request to a model that costs nothing. Never rejects. */
  generate(secret: string): Promise<Outcome>;
  /** Asks, before anything of a body is read, whether such a request may begin. Never rejects. */
  admit(secret: string): Promise<Outcome>;
  /** Lets the caller of a short request in by its headers; what resolves sends the message behind them. */
  enter(secret: string, more?: CallMetadata): Promise<() => Promise<Outcome>>;
  /** Asks who the key is, which begins no request. Never rejects. */
  whoAmI(secret: string): Promise<Outcome>;
}

export interface NodeCores {
  readonly nodes: readonly NodeCore[];
  readonly ledger: Ledger;
  makeKey(settings?: Partial<KeySettings>): Promise<KeyWithSecret>;
  close(): Promise<void>;
}

/** Opens so many nodes on the Redis at each URL, which may be a proxy before the same one. */
export async function openNodeCores(urls: readonly string[], redis: Partial<RedisOptions> = {}): Promise<NodeCores> {
  const directory = mkdtempSync(join(tmpdir(), "tollgate-nodes-"));
  const store = await openTestStore(directory);
  const ledger = new Ledger({ store, nodeId: randomUUID(), nowMs: Date.now });
  await ledger.start();
  await ledger.createAccount({ id: ACCOUNT, name: ACCOUNT }, TEST_ACT);
  const { routing, disconnect } = await openRouting();
  const long = { longBodies: createLongBodies(), longAnswers: createLongAnswers() };
  const answerMemory = new ByteBudget(64 * 1024 * 1024, OF_ANSWERS);
  const rootSecret = randomBytes(32);
  const prefix = newPrefix();
  const open = async (url: string): Promise<NodeCore> => {
    const coordination = await openRedis(url, { prefix, ...redis });
    const keys = new Keys({ store, coordination, rootSecret, nowMs: Date.now, randomBytes });
    const limits = new Limits({ coordination });
    const metrics = new Metrics();
    const reading = { wires: clientWires, embeddingWires, surfaces: SURFACES, ...long, answerMemory };
    const steps = { ...reading, routing, limits, quotas: { take: () => undefined }, ledger, log: SILENT, metrics };
    const gateway = createGateway({ ...steps, nowMs: Date.now });
    const dispatcher = createDispatcher({
      alerts: alertsOver(store),
      keys,
      identity: identityOver(store, { coordination, keys, nowMs: Date.now }),
      topUpCodes: topUpOver(store, { coordination, ledger, nowMs: Date.now }),
      cardPayments: cardsOver(store, { coordination, ledger, nowMs: Date.now }),
      ledger,
      store: { requests: ledger.requests, audit: store.audit, figures: store.figures },
      gateway,
      limits,
      models: createModelCatalog(routing),
      upstreams: createUpstreamBoard(routing, { nodeId: () => "node_1", dateMs: Date.now }, testRequest(clientWires)),
      requestIds: () => randomUUID().replaceAll("-", ""),
      nowMs: Date.now,
      frontTokens: [],
      nodes: { list: () => Promise.resolve([]) },
    });
    const channel = createInProcessChannel(dispatcher);
    const ask = async (call: (options: CallOptions) => Promise<Outcome>, secret: string): Promise<Outcome> => {
      try {
        return await call({ metadata: { authorization: `Bearer ${secret}` }, signal: new Cancellation() });
      } catch (error) {
        return { error: GatewayError.from(error) };
      }
    };
    return {
      keys,
      coordination,
      generate: (secret) =>
        ask((options) => channel.unary(InferenceServiceService.generate, request(), options), secret),
      admit: (secret) =>
        ask(async ({ metadata }) => {
          await dispatcher.admit(TO_CHAT, { metadata, peer: "", local: true }, GENERATE);
          return { head: {} };
        }, secret),
      enter: async (secret, more = {}) => {
        const metadata = { authorization: `Bearer ${secret}`, ...more };
        const admission = await dispatcher.admit(TO_CHAT, { metadata, peer: "", local: true }, GENERATE, false);
        const send = (options: CallOptions): Promise<Outcome> =>
          channel.unary(InferenceServiceService.generate, request(), { ...options, metadata, admission });
        return () => ask(send, secret);
      },
      whoAmI: (secret) => ask((options) => channel.unary(KeyServiceService.getCaller, {}, options), secret),
    };
  };
  const nodes = await Promise.all(urls.map(open));
  const maker = new Keys({
    store,
    coordination: createInProcessCoordination({ nowMs: Date.now }),
    rootSecret,
    nowMs: Date.now,
    randomBytes,
  });
  return {
    nodes,
    ledger,
    makeKey: (settings = {}) =>
      maker.create(
        {
          accountId: ACCOUNT,
          settings: { ...KeySettings.decode(new Uint8Array()), scopes: ["chat"], ...settings },
        },
        TEST_ACT,
      ),
    close: async () => {
      await Promise.all(nodes.map(({ coordination }) => coordination.close()));
      await ledger.close();
      await disconnect();
      await long.longBodies.close();
      await long.longAnswers.close();
      await store.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function request() {
  const body = Buffer.from('{"model":"sim-1","messages":[{"role":"user","content":"hi"}]}');
  const source = { wire: "openai-chat", body, headers: {} };
  const input = { $case: "source", value: source } as const;
  return { generation: { ...Generation.decode(new Uint8Array()), input, outputTokensMax: undefined }, acceptWire: "" };
}

async function openRouting() {
  const options = createLoadOptions({}, Date.now, nothing);
  const routing = new Routing({
    affinity,
    limiter,
    promptCaches,
    nowMs: () => performance.now(),
    random: () => 0,
    timeouts: TIMEOUTS,
    listed: () => undefined,
    onAttempt: nothing,
    onUnknownMember: nothing,
    onReadOn: nothing,
  });
  const settings = parseSettings(SETTINGS, {});
  const { upstreams } = connectUpstreams(settings, new Map(), options);
  const { table } = await loadTable(settings, upstreams, new Map(), options);
  routing.replace(table);
  const disconnect = async (): Promise<void> => {
    for (const { upstream } of upstreams.values()) await upstream.close();
  };
  return { routing, disconnect };
}
