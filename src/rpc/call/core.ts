/** What the services are made of: the parts of the core, as this edge uses them. */
import type { Alerts } from "../../alerts/alerts.js";
import type {
  ApplyObjectsRequest,
  CheckObjectsResponse,
  CheckSettingsResponse,
  GetSettingsResponse,
  ListObjectsRequest,
  ListObjectsResponse,
  ListPriceChangesRequest,
  ListPriceChangesResponse,
  ListRevisionsRequest,
  ListRevisionsResponse,
  Node,
  ObjectChange,
  ObjectKind,
  PriceList,
  SettingsFile,
  SettingsSource,
  SettingsObject,
  TestObjectRequest,
  TestObjectResponse,
  UpdateObjectRequest,
  UpstreamFamily,
} from "../../api/index.js";
import type { Act } from "../../audit/act.js";
import type { Gateway } from "../../gateway/gateway.js";
import type { Replays } from "../../gateway/replay/replays.js";
import type { Identity } from "../../identity/identity.js";
import type { KeyUses } from "../../keys/key-uses.js";
import type { Keys } from "../../keys/keys.js";
import type { TrustedProxies } from "../../keys/proxies.js";
import type { Ledger } from "../../ledger/ledger.js";
import type { Limits } from "../../limits/limits.js";
import type { Quotas } from "../../limits/quotas.js";
import type { Log } from "../../observe/log.js";
import type { ModelCatalog, UpstreamBoard } from "../../routing/catalog.js";
import type { CardPayments } from "../../payments/card-payments.js";
import type { TopUpCodes } from "../../payments/top-up-codes.js";
import type { Plans } from "../../plans/plan.js";
import type { Records } from "../../records/records.js";
import type { RequestFeed } from "../../records/request-record.js";
import type { Store } from "../../store/store.js";

/** The nodes of this backend. */
export interface NodeBoard {
  /** By id. */
  list(): Promise<readonly Node[]>;
}

/** The settings file of this node. */
export interface SettingsBoard {
  show(): Promise<GetSettingsResponse>;
  /** Rejects with RESOURCE_UNKNOWN or ETAG_STALE. */
  check(content: string, etag: string): Promise<CheckSettingsResponse>;
  /** Rejects with RESOURCE_UNKNOWN, ETAG_STALE or PARAMETER_INVALID. */
  update(content: string, etag: string, act: Act): Promise<SettingsFile>;
}

/** The settings objects: those of the database, and beside them what this node has from elsewhere. */
export interface ObjectBoard {
  /**
   * Puts in force here what another node committed before, so that a caller who changed something there finds it here.
   * Never rejects, and waits a bounded time for the database.
   */
  catchUp(): Promise<void>;
  list(request: ListObjectsRequest): ListObjectsResponse;
  /** Throws RESOURCE_UNKNOWN. */
  get(kind: ObjectKind, name: string): SettingsObject;
  create(object: SettingsObject | undefined, act: Act): Promise<SettingsObject>;
  update(request: UpdateObjectRequest, act: Act): Promise<SettingsObject>;
  delete(kind: ObjectKind, name: string, etag: string, act: Act): Promise<void>;
  /** Answers the object where it is then. */
  move(kind: ObjectKind, name: string, to: SettingsSource, act: Act): Promise<SettingsObject>;
  check(changes: readonly ObjectChange[]): Promise<CheckObjectsResponse>;
  /** Asks an upstream that need not be saved. */
  test(request: TestObjectRequest): Promise<TestObjectResponse>;
  families(): readonly UpstreamFamily[];
  /** Answers the revision that is in force then. */
  apply(request: ApplyObjectsRequest, act: Act): Promise<number>;
  revisions(request: ListRevisionsRequest): Promise<ListRevisionsResponse>;
  restore(revision: number, act: Act): Promise<number>;
}

/** The list of published prices. What changes it rejects with PARAMETER_INVALID where the settings pin the prices. */
export interface PriceBoard {
  show(): Promise<PriceList>;
  changes(request: ListPriceChangesRequest): Promise<ListPriceChangesResponse>;
  /** Rejects with RESOURCE_UNKNOWN where a change is not pending any more. */
  accept(ids: readonly string[], act: Act): Promise<PriceList>;
  reject(ids: readonly string[], act: Act): Promise<PriceList>;
  /** Rejects with RESOURCE_UNKNOWN where no list of the serial is kept. */
  rollBack(serial: number, act: Act): Promise<PriceList>;
  /** Reads the snapshot now. */
  read(): Promise<PriceList>;
}

export interface CoreParts {
  readonly keys: Keys;
  readonly ledger: Ledger;
  /** Absent: nobody notes when keys are used. */
  readonly keyUses?: KeyUses | undefined;
  readonly store: Pick<Store, "requests" | "audit" | "figures">;
  readonly identity: Identity;
  readonly topUpCodes: TopUpCodes;
  readonly cardPayments: CardPayments;
  readonly gateway: Gateway;
  /** Those that `gateway` takes requests into. */
  readonly limits: Pick<Limits, "check" | "compare" | "usedOf">;
  /** Absent: this core shows nothing of how full quotas are. */
  readonly quotas?: Pick<Quotas, "usesOf"> | undefined;
  /** Absent: no answer comes twice. */
  readonly replays?: Replays | undefined;
  readonly models: ModelCatalog;
  readonly upstreams: UpstreamBoard;
  readonly nodes: NodeBoard;
  /** Absent: this core has no settings. */
  readonly settings?: SettingsBoard | undefined;
  /** Absent: this core has no settings objects. */
  readonly objects?: ObjectBoard | undefined;
  /** Absent: this core has no published prices. */
  readonly prices?: PriceBoard | undefined;
  /** Absent: this core has no plans. */
  readonly plans?: Plans | undefined;
  readonly alerts: Pick<Alerts, "rules" | "events" | "webhooks" | "deliveries" | "maker" | "proved">;
  /** Makes 32 hexadecimal characters that never come again. */
  readonly requestIds: () => string;
  readonly nowMs: () => number;
  /** What front ends in other processes show, so that their word on the client's address is believed. */
  readonly frontTokens: readonly string[];
  /** The proxies in front of this process; absent where there are none. */
  readonly proxies?: TrustedProxies | undefined;
  readonly log?: Log | undefined;
  /** Hears of requests as they end. Absent: nobody does. */
  readonly requests?: RequestFeed | undefined;
  /** Absent: only the ledger knows of requests. */
  readonly records?: Records | undefined;
}
