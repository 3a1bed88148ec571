/**
 * The published prices in force: those of the program, and what was accepted of signed snapshots. The database has
 * them, so that all nodes have the same. Why so: docs/decisions/0479-price-lists.md.
 */
import type { Provider } from "@pydantic/genai-prices";
import { invalid, unknown } from "../api/check.js";
import { type Act, eventOf, gatewayAct, markWritten } from "../audit/act.js";
import { changeOf } from "../audit/snapshot.js";
import { GatewayError } from "../base/errors.js";
import type { PriceListSettings } from "../config/settings.js";
import { bundledPrices } from "../pricing/known-models.js";
import { newerProviders, PRICE_LIST, type PriceList, priceListOf, stillNewer } from "../pricing/price-list.js";
import type { PeopleStore } from "../store/people-store.js";
import type { PriceListCause, PriceSnapshotRow } from "../store/price-list-scripts.js";
import {
  accepting,
  confirmedOf,
  type ListState,
  NO_CHANGES,
  readState,
  rejecting,
  rollingBack,
  writeState,
} from "./list-state.js";
import { changesOf, type PriceChange } from "./rules.js";
import { readSnapshot, type Snapshot, SnapshotRefusal } from "./snapshot.js";

export interface PriceListsOptions {
  readonly store: Pick<
    PeopleStore,
    | "priceListRevision"
    | "priceList"
    | "priceListOf"
    | "pastPriceLists"
    | "commitPriceList"
    | "priceSnapshot"
    | "keepPriceSnapshot"
  >;
  readonly nowMs: () => number;
}

/** What is in force, as this node read it last. */
interface InForce {
  readonly revision: number;
  readonly serial: number;
  readonly state: ListState;
}

/** What a snapshot would change. */
interface Proposed {
  readonly snapshot: Snapshot;
  readonly changes: readonly PriceChange[];
}

const NOTHING: InForce = { revision: 0, serial: 0, state: NO_CHANGES };
/** Serials are numbers, days or times of a clock. A larger step would leave no serials for later snapshots. */
const SERIAL_STEP_MAX = 10_000_000_000;
const FIRST_SERIAL_MAX = 10_000_000_000_000;
/** Others decide at the same time: so often a decision is made anew against what they made of the list. */
const TRIES_MAX = 8;
/** An audit record names so many models. */
const NAMED_MAX = 100;

export class PriceLists {
  #inForce = NOTHING;
  #list: PriceList | undefined;
  #isUsed = false;
  /** The last snapshot that was read, since it takes some 100 ms to read. */
  #read: { readonly text: string; readonly keys: readonly string[]; readonly snapshot: Snapshot } | undefined;

  constructor(private readonly options: PriceListsOptions) {}

  /** Names what is in force: another one means that something changed. */
  get stamp(): string {
    return String(this.#inForce.revision);
  }

  get serial(): number {
    return this.#inForce.serial;
  }

  /** How many models have a price of a snapshot. */
  get modelCount(): number {
    return stillNewer(this.#inForce.state.models).size;
  }

  /** The list in force; undefined where that is the program's own. */
  get list(): PriceList | undefined {
    return this.#isUsed ? this.#list : undefined;
  }

  /** False pins the prices: the list of the program is in force, and the other one is kept. */
  use(isUsed: boolean): void {
    this.#isUsed = isUsed;
  }

  /** Reads what is in force. */
  async refresh(): Promise<void> {
    const { store } = this.options;
    if ((await store.priceListRevision()) === this.#inForce.revision) return;
    const row = await store.priceList();
    const inForce =
      row === undefined ? NOTHING : { revision: row.revision, serial: row.serial, state: readState(row.state) };
    const newer = stillNewer(inForce.state.models);
    const list = newer.size === 0 ? undefined : priceListOf(await providersWith(inForce.state), newer);
    // A decision of this node may have come while it was read.
    if (inForce.revision < this.#inForce.revision) return;
    this.#inForce = inForce;
    this.#list = list;
  }

  /** Keeps a snapshot that was read. Throws SnapshotRefusal, and then nothing changed. */
  async take(text: string, { keys }: PriceListSettings, nextTimeMs: number): Promise<void> {
    const { store, nowMs } = this.options;
    const { serial, made } = this.#snapshotOf(text, keys);
    const last = (await store.priceSnapshot())?.serial ?? 0;
    const serialMax = Math.max(last, FIRST_SERIAL_MAX * Number(last === 0)) + SERIAL_STEP_MAX;
    if (serial > serialMax)
      throw new SnapshotRefusal(`has the serial ${serial}, and after ${last} none above ${serialMax} is taken`);
    if (made < PRICE_LIST.date) throw new SnapshotRefusal(`was made before ${PRICE_LIST.list}, which the program has`);
    if (!(await store.keepPriceSnapshot(serial, text, nowMs(), nextTimeMs)))
      throw new SnapshotRefusal(`has the serial ${serial}, which is not above that of the last one`);
  }

  /** Puts in force what may come by itself, where the settings say so. */
  async apply(settings: PriceListSettings): Promise<void> {
    if (settings.refresh !== "apply") return;
    const act = gatewayAct("prices.apply", this.options.nowMs());
    await this.#commit("apply", act, async () => {
      const proposed = await this.proposed(settings);
      const own = proposed?.changes.filter(({ reasons }) => reasons.length === 0) ?? [];
      if (proposed === undefined || own.length === 0) return undefined;
      return this.#accepted(own, proposed.snapshot, "itself");
    });
  }

  /** Rejects with RESOURCE_UNKNOWN where a change is not pending any more. */
  async accept(ids: readonly string[], settings: PriceListSettings, act: Act): Promise<void> {
    await this.#commit("accept", act, async () => {
      const { snapshot, changes } = await this.#pending(ids, settings);
      return this.#accepted(changes, snapshot, "operator");
    });
  }

  /** The same. */
  async reject(ids: readonly string[], settings: PriceListSettings, act: Act): Promise<void> {
    await this.#commit("reject", act, async () => {
      const { changes } = await this.#pending(ids, settings);
      const { serial, state } = this.#inForce;
      return { serial, state: rejecting(state, changes), keys: changes.map(({ key }) => key) };
    });
  }

  /** Puts the last list of a serial in force again. Rejects with RESOURCE_UNKNOWN. */
  async rollBack(serial: number, act: Act): Promise<void> {
    await this.#commit("roll_back", act, async () => {
      const row = serial === 0 ? undefined : await this.options.store.priceListOf(serial);
      if (row === undefined && serial !== 0) throw unknown("price list", String(serial));
      const state = rollingBack(this.#inForce.state, row === undefined ? NO_CHANGES : readState(row.state));
      return { serial, state, keys: [...state.held] };
    });
  }

  /** What the last snapshot would change; undefined where there is none that counts. */
  async proposed({ keys }: PriceListSettings): Promise<Proposed | undefined> {
    const row = await this.options.store.priceSnapshot();
    const snapshot = row && this.#readable(row, keys);
    // A newer program has newer prices of its own.
    if (snapshot === undefined || snapshot.made < PRICE_LIST.date) return undefined;
    const { state } = this.#inForce;
    const { find } = await bundledPrices();
    const providers = await providersWith(state);
    const merged = priceListOf(providers, state.models).providers;
    const changes = changesOf({
      providers,
      snapshot,
      nowMs: this.options.nowMs(),
      find: (id, name) => {
        const provider = merged.get(id);
        return provider && find(provider, name);
      },
      held: state.held,
      confirmed: confirmedOf(state),
    });
    return { snapshot, changes: changes.filter(({ key, id }) => state.rejected.get(key) !== id) };
  }

  async #pending(ids: readonly string[], settings: PriceListSettings): Promise<Proposed> {
    const proposed = await this.proposed(settings);
    const byId = new Map(proposed?.changes.map((change) => [change.id, change]));
    const changes = ids.map((id) => {
      const change = byId.get(id);
      if (change === undefined) throw unknown("price change", id);
      return change;
    });
    if (proposed === undefined) throw invalid("ids", "must name a pending change");
    return { ...proposed, changes };
  }

  /** A snapshot whose key is trusted no more counts no more. */
  #readable({ document }: PriceSnapshotRow, keys: readonly string[]): Snapshot | undefined {
    if (document === "") return undefined;
    try {
      return this.#snapshotOf(document, keys);
    } catch (error) {
      if (error instanceof SnapshotRefusal) return undefined;
      throw error;
    }
  }

  #snapshotOf(text: string, keys: readonly string[]): Snapshot {
    const last = this.#read;
    if (last?.text === text && last.keys.join() === keys.join()) return last.snapshot;
    const snapshot = readSnapshot(text, keys);
    this.#read = { text, keys, snapshot };
    return snapshot;
  }

  #accepted(changes: readonly PriceChange[], snapshot: Snapshot, by: "operator" | "itself") {
    const state = accepting(this.#inForce.state, changes, snapshot, by);
    return { serial: snapshot.serial, state, keys: changes.map(({ key }) => key) };
  }

  /** Commits what `make` makes of what is in force; nothing where that is undefined. */
  async #commit(
    cause: PriceListCause,
    act: Act,
    make: () => Promise<{ serial: number; state: ListState; keys: readonly string[] } | undefined>,
  ): Promise<void> {
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      await this.refresh();
      const before = this.#inForce;
      const wanted = await make();
      if (wanted === undefined) return;
      const { serial, state, keys } = wanted;
      const told = changeOf({
        before: { serial: before.serial },
        after: { cause, serial, models: keys.slice(0, NAMED_MAX), count: keys.length },
      });
      const row = {
        revision: before.revision + 1,
        serial,
        createTimeMs: act.timeMs,
        actor: act.actor.id,
        cause,
        state: writeState(state),
      };
      const event = eventOf(act, { resource: "prices/list", accountId: "", ...told });
      if (!(await this.options.store.commitPriceList(row, event))) continue;
      markWritten(act);
      await this.refresh();
      return;
    }
    throw new GatewayError("ERROR_REASON_OVERLOADED", { problem: "the prices change all the time; try again" });
  }
}

async function providersWith({ models }: ListState): Promise<readonly Provider[]> {
  const { providers, find } = await bundledPrices();
  return newerProviders(providers, stillNewer(models), find);
}
