/** A core with real keys, ledger and store in a directory of its own; a steered gateway stands for the pipeline. */
import { randomBytes, randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  KeySettings,
  type Model,
  ModelKind,
  PriceSource,
  type TestUpstreamResponse,
  type Upstream,
  UpstreamHealth,
  UpstreamTestResult,
} from "../../src/api/index.js";
import { createInProcessCoordination } from "../../src/coordination/in-process.js";
import { GatewayError } from "../../src/base/errors.js";
import type { Caller } from "../../src/keys/caller.js";
import { Keys } from "../../src/keys/keys.js";
import { Ledger } from "../../src/ledger/ledger.js";
import { Limits } from "../../src/limits/limits.js";
import type { Log, LogFields } from "../../src/observe/log.js";
import type { CoreParts } from "../../src/rpc/call/core.js";
import { createDispatcher, type Dispatcher } from "../../src/rpc/methods/service-table.js";
import { alertsOver } from "../support/alerts-over.js";
import type { Store } from "../../src/store/store.js";
import { SteeredGateway } from "./steered-gateway.js";
import { TEST_ACT } from "../support/acts.js";
import { identityOver } from "../support/identity-over.js";
import { cardsOver } from "../support/cards-over.js";
import { topUpOver } from "../support/top-up-over.js";
import { objectsOver } from "../support/objects-over.js";
import { openTestStore } from "../support/open-test-store.js";

export const FRONT_TOKEN = "front-token-of-this-test";
/** 2026-11-21. */
export const NOW_MS = 1_795_219_200_000;

export interface LogLine {
  readonly level: string;
  readonly fields: LogFields;
  readonly message: string;
}

export interface OpenCore {
  readonly parts: CoreParts;
  readonly dispatcher: Dispatcher;
  readonly gateway: SteeredGateway;
  readonly store: Store;
  readonly log: readonly LogLine[];
  /** A key of an account, which is opened where it does not exist. */
  makeKey(accountId: string, settings?: Partial<KeySettings>): Promise<{ secret: string; id: string }>;
  close(): Promise<void>;
}

export async function openCore(more: Partial<CoreParts> = {}, nowMs = (): number => NOW_MS): Promise<OpenCore> {
  const directory = await mkdtemp(join(tmpdir(), "tollgate-rpc-"));
  const store = await openTestStore(directory);
  const coordination = createInProcessCoordination({ nowMs });
  const keys = new Keys({ store, coordination, rootSecret: randomBytes(32), nowMs, randomBytes });
  const ledger = new Ledger({ store, nodeId: randomUUID(), nowMs });
  const identity = identityOver(store, { coordination, keys, nowMs });
  const gateway = new SteeredGateway();
  const log: LogLine[] = [];
  const parts: CoreParts = {
    alerts: alertsOver(store, { nowMs, log: logInto(log) }),
    keys,
    ledger,
    identity,
    topUpCodes: topUpOver(store, { coordination, ledger, nowMs }),
    cardPayments: cardsOver(store, { coordination, ledger, nowMs }),
    store,
    gateway,
    limits: new Limits({ coordination }),
    models: {
      list: (caller) => MODELS.filter((model) => caller.mayUseModel(model.id)),
      unpriced: () => [],
      get: getModel,
    },
    upstreams: {
      list: () => [UPSTREAM],
      get: (id) => ({ upstream: resetUpstream(id), changes: [], failures: [] }),
      reset: resetUpstream,
      drain: (id, isDrained) => ({ ...resetUpstream(id), ...(isDrained ? DRAINED : {}) }),
      test: async (id) => ({ ...TESTED, missingModels: resetUpstream(id).models }),
    },
    nodes: { list: () => Promise.resolve([]) },
    objects: objectsOver(store, nowMs),
    requestIds: () => randomUUID().replaceAll("-", ""),
    nowMs,
    frontTokens: [FRONT_TOKEN],
    log: logInto(log),
    ...more,
  };
  return {
    parts,
    dispatcher: createDispatcher(parts),
    gateway,
    store,
    log,
    makeKey: async (accountId, settings = {}) => {
      await store.accounts.create({ id: accountId, name: accountId, createTimeMs: NOW_MS }, TEST_ACT);
      const all = { ...KeySettings.decode(new Uint8Array()), ...settings };
      const { key, secret } = await keys.create({ accountId, settings: all }, TEST_ACT);
      return { secret, id: key.id };
    },
    close: async () => {
      await coordination.close();
      await store.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

const MODELS: readonly Model[] = ["alpha", "beta/one", "gamma"].map((id) => ({
  id,
  owner: "someone",
  createTime: undefined,
  contextTokens: 8_000n,
  outputTokensMax: 1_000n,
  price: undefined,
  upstreams: ["here", "there"],
  kind: ModelKind.MODEL_KIND_CHAT,
  capabilities: undefined,
  retireTime: undefined,
  priceSource: PriceSource.PRICE_SOURCE_SETTINGS,
  aliasOf: "",
  displayName: "",
}));

const UPSTREAM: Upstream = {
  id: "here",
  family: "sim",
  baseUrl: "http://127.0.0.1:1/v1",
  health: UpstreamHealth.UPSTREAM_HEALTH_HEALTHY,
  coolingMs: 0n,
  warnings: [],
  running: 0n,
  waiting: 0n,
  concurrency: 0n,
  models: ["alpha"],
  ejections: [],
};

const DRAINED = { health: UpstreamHealth.UPSTREAM_HEALTH_DRAINED };
const TESTED: TestUpstreamResponse = {
  result: UpstreamTestResult.UPSTREAM_TEST_RESULT_WELL,
  problem: "",
  httpStatus: 200,
  durationMs: 1n,
  modelCount: 0n,
  missingModels: [],
};

function getModel(id: string, caller: Caller): Model {
  const found = MODELS.find((model) => model.id === id);
  if (found === undefined) throw new GatewayError("ERROR_REASON_MODEL_UNKNOWN", { model: id });
  if (!caller.mayUseModel(id)) throw new GatewayError("ERROR_REASON_MODEL_NOT_ALLOWED", { model: id });
  return found;
}

function resetUpstream(id: string): Upstream {
  if (id !== UPSTREAM.id) throw new GatewayError("ERROR_REASON_RESOURCE_UNKNOWN", { kind: "upstream", id });
  return UPSTREAM;
}

function logInto(lines: LogLine[]): Log {
  const to = (level: string) => (fields: LogFields, message: string) => {
    lines.push({ level, fields, message });
  };
  return { debug: to("debug"), info: to("info"), warn: to("warn"), error: to("error") };
}
