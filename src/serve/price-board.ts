/** The list of published prices as operators see it and decide on it. */
import { invalid } from "../api/check.js";
import {
  type ListPriceChangesRequest,
  type ListPriceChangesResponse,
  type PriceChange as ShownChange,
  PriceChangeKind,
  type PriceList as ShownList,
  PriceListCause as ShownCause,
} from "../api/index.js";
import type { Act } from "../audit/act.js";
import type { PriceListSettings } from "../config/settings.js";
import type { PriceLists } from "../price-lists/price-lists.js";
import type { PriceReader } from "../price-lists/price-reader.js";
import type { PriceChange } from "../price-lists/rules.js";
import type { Snapshot } from "../price-lists/snapshot.js";
import { PRICE_LIST, snapshotName } from "../pricing/price-list.js";
import type { PriceBoard } from "../rpc/call/core.js";
import { pageById } from "../rpc/methods/page.js";
import type { PeopleStore } from "../store/people-store.js";
import type { PriceListCause, PriceSnapshotRow } from "../store/price-list-scripts.js";

export interface DatabasePricesOptions {
  readonly lists: PriceLists;
  readonly reader: Pick<PriceReader, "read">;
  readonly store: Pick<PeopleStore, "pastPriceLists" | "priceSnapshot">;
  /** Those in force. */
  readonly settings: () => PriceListSettings;
  /** Puts in force what the database has. Never rejects. */
  readonly catchUp: () => Promise<void>;
}

const CHANGES_MAX = 1_000;
const PAGE_DEFAULT = 100;
const CAUSES: Readonly<Record<PriceListCause, ShownCause>> = {
  apply: ShownCause.PRICE_LIST_CAUSE_APPLY,
  accept: ShownCause.PRICE_LIST_CAUSE_ACCEPT,
  reject: ShownCause.PRICE_LIST_CAUSE_REJECT,
  roll_back: ShownCause.PRICE_LIST_CAUSE_ROLL_BACK,
};
const KINDS: Readonly<Record<PriceChange["kind"], PriceChangeKind>> = {
  new: PriceChangeKind.PRICE_CHANGE_KIND_NEW,
  changed: PriceChangeKind.PRICE_CHANGE_KIND_CHANGED,
  removed: PriceChangeKind.PRICE_CHANGE_KIND_REMOVED,
};

export class DatabasePrices implements PriceBoard {
  constructor(private readonly options: DatabasePricesOptions) {}

  async show(): Promise<ShownList> {
    const { catchUp, lists, store, settings } = this.options;
    await catchUp();
    const { refresh } = settings();
    const [past, row] = await Promise.all([store.pastPriceLists(), store.priceSnapshot()]);
    const proposed = await this.#proposed();
    const isPinned = refresh === "pinned" || lists.modelCount === 0;
    return {
      refresh,
      list: isPinned ? PRICE_LIST.list : snapshotName(lists.serial),
      serial: isPinned ? 0n : BigInt(lists.serial),
      modelCount: isPinned ? 0 : lists.modelCount,
      snapshot: row && proposed && shownSnapshot(row, proposed.snapshot),
      problem: row?.problem ?? "",
      pendingCount: proposed?.changes.length ?? 0,
      past: past.map(({ serial, createTimeMs, actor, cause }) => ({
        serial: BigInt(serial),
        createTime: new Date(createTimeMs),
        actor,
        cause: CAUSES[cause],
      })),
    };
  }

  async changes({ pageSize, pageToken }: ListPriceChangesRequest): Promise<ListPriceChangesResponse> {
    await this.options.catchUp();
    const all = (await this.#proposed())?.changes ?? [];
    const sorted = all.toSorted((one, other) => (one.id < other.id ? -1 : 1));
    const { rows, nextPageToken } = pageById(sorted, { pageSize: pageSize || PAGE_DEFAULT, pageToken }, "p");
    return { priceChanges: rows.map(shownChange), nextPageToken };
  }

  async accept(ids: readonly string[], act: Act): Promise<ShownList> {
    await this.options.lists.accept(named(ids), this.#unpinned(), act);
    return this.show();
  }

  async reject(ids: readonly string[], act: Act): Promise<ShownList> {
    await this.options.lists.reject(named(ids), this.#unpinned(), act);
    return this.show();
  }

  async rollBack(serial: number, act: Act): Promise<ShownList> {
    this.#unpinned();
    await this.options.lists.rollBack(serial, act);
    return this.show();
  }

  async read(): Promise<ShownList> {
    this.#unpinned();
    await this.options.reader.read();
    return this.show();
  }

  async #proposed() {
    const settings = this.options.settings();
    return settings.refresh === "pinned" ? undefined : this.options.lists.proposed(settings);
  }

  #unpinned(): PriceListSettings {
    const settings = this.options.settings();
    if (settings.refresh === "pinned")
      throw invalid("refresh", "is pinned: set `prices.refresh` to propose or apply in the settings first");
    return settings;
  }
}

function named(ids: readonly string[]): readonly string[] {
  if (ids.length > CHANGES_MAX) throw invalid("ids", `must be at most ${CHANGES_MAX} changes`);
  return ids;
}

function shownSnapshot({ serial, readTimeMs }: PriceSnapshotRow, { made, expires }: Snapshot) {
  return {
    serial: BigInt(serial),
    makeTime: new Date(made),
    expireTime: new Date(expires),
    readTime: new Date(readTimeMs),
  };
}

function shownChange({ id, key, kind, components, reasons }: PriceChange): ShownChange {
  const cut = key.indexOf("/");
  return {
    id,
    provider: key.slice(0, cut),
    model: key.slice(cut + 1),
    kind: KINDS[kind],
    components: components.map(({ component, from, to, others }) => ({
      component,
      from,
      to,
      others: others.map(({ source, price }) => ({ list: source, price })),
    })),
    reasons: [...reasons],
  };
}
