/** Keeps the table of routes in step with the settings and with the upstreams' own lists of models. */
import { createHash } from "node:crypto";
import { invalid } from "../api/check.js";
import {
  type ListPrice,
  type OfferedModel,
  type Price,
  type TestObjectResponse,
  UpstreamTestResult,
} from "../api/index.js";
import { NO_SETTINGS, type Settings, type UpstreamSettings } from "../config/settings.js";
import { isWildcard } from "../config/wildcards.js";
import type { ListedModel } from "../families/family.js";
import type { Log } from "../observe/log.js";
import { listModels } from "../routing/listing.js";
import {
  connectUpstream,
  connectUpstreams,
  loadTable,
  type LoadOptions,
  targetedUpstreams,
  type UnservedModel,
} from "../routing/load.js";
import type { ServedUpstream } from "../routing/model.js";
import type { KnownModel } from "../routing/served-models.js";
import { Retirement } from "../routing/retirement.js";
import type { Routing } from "../routing/routing.js";
import { testRequest } from "../gateway/test-request.js";
import { requestWires } from "../reading/readers.js";
import { shownKind } from "../routing/catalog.js";
import { testUpstream } from "../routing/upstream-test.js";
import { type SoldModel, soldModels } from "./sold-models.js";

/** Routes that are ready to come into force, at once and without fail. Either is called once. */
export interface PreparedRoutes {
  /** Models that the settings name and that cannot be served. */
  readonly unserved: readonly UnservedModel[];
  /** Aliases of models that are not served. */
  readonly unservedAliases: readonly UnservedModel[];
  /** Upstreams of the database that cannot be connected here. */
  readonly unconnected: readonly UnservedModel[];
  /** What the others that the settings name are sold at. */
  readonly sold: readonly SoldModel[];
  /** The price of each model that would be served. */
  readonly prices: ReadonlyMap<string, Price>;
  /** What the published list says about the first target of each model, served or not. */
  readonly listPrices: ReadonlyMap<string, ListPrice>;
  commit(): void;
  discard(): void;
}

const LIST_AGAIN_MS = 600_000;
const LIST_RETRY_MS = 15_000;
/** So many upstreams are tried before any of them is saved. */
const PROVED_MAX = 100;
/** Of a longer list the first are shown. */
const OFFERED_MAX = 1_000;

export class RouteKeeper {
  #settings: Settings = NO_SETTINGS;
  #upstreams: ReadonlyMap<string, ServedUpstream> = new Map();
  readonly #listed = new Map<string, readonly ListedModel[]>();
  /** Digests of the settings with which a call succeeded before they were saved, the newest last. */
  readonly #proved = new Set<string>();
  readonly #retirement: Retirement;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(
    private readonly routing: Routing,
    private readonly options: LoadOptions,
    private readonly log: Log,
    /** The longest that a request may run on an upstream, in milliseconds. */
    requestMsMax: number,
  ) {
    this.#retirement = new Retirement(requestMsMax);
  }

  /** Makes the routes of settings without putting them in force. Rejects where they cannot be made. */
  async prepare(settings: Settings): Promise<PreparedRoutes> {
    const before = this.#upstreams;
    const { upstreams, failed } = connectUpstreams(settings, before, this.options);
    for (const wanted of settings.upstreams) {
      const served = upstreams.get(wanted.id);
      if (served !== undefined && this.#proved.has(digestOf(wanted))) served.health.hasServed = true;
    }
    const listed = this.#listsFor(settings, upstreams);
    const { table, unserved, unservedAliases, listPrices } = await loadTable(settings, upstreams, listed, this.options);
    const named = new Set(settings.models.map((model) => model.id));
    return {
      // Of listed models most have no public price, and nobody asked for them.
      unserved: unserved.filter((model) => named.has(model.id)),
      unservedAliases,
      unconnected: failed,
      sold: soldModels(settings, table),
      prices: new Map([...table.models].map(([id, { price }]) => [id, price])),
      listPrices,
      commit: () => {
        this.#settings = settings;
        this.#upstreams = upstreams;
        for (const id of this.#listed.keys()) if (!listed.has(id)) this.#listed.delete(id);
        this.routing.replace(table);
        for (const served of othersThan(upstreams, before)) this.#retirement.add(served);
        this.#listSoon(0);
      },
      discard: () => {
        for (const { upstream } of othersThan(before, upstreams)) void upstream.close();
      },
    };
  }

  /** Asks an upstream that is not in force, and closes it again. Rejects with PARAMETER_INVALID. */
  async tryUpstream(settings: UpstreamSettings, callModel: string): Promise<TestObjectResponse> {
    const { nowMs, known, facts } = this.options;
    const served = connectedOrRefused(settings, this.options);
    try {
      const call =
        callModel === ""
          ? undefined
          : { model: callModel, facts: await facts(callModel), request: testRequest(requestWires.wires) };
      const { answer, listed } = await testUpstream(served, new Set(), call, nowMs);
      if (callModel !== "" && answer.result === UpstreamTestResult.UPSTREAM_TEST_RESULT_WELL)
        this.#noteProved(settings);
      const { pricedAs } = served.family;
      const shown = listed.toSorted((one, other) => (one.id < other.id ? -1 : 1)).slice(0, OFFERED_MAX);
      const ids = shown.map(({ id }) => id);
      const found = pricedAs === undefined ? new Map<string, KnownModel>() : await known(pricedAs, ids);
      const models = shown.map(({ id, kind }): OfferedModel => {
        const { price, contextTokens = 0, outputTokensMax = 0 } = found.get(id) ?? {};
        const own = kind ?? served.family.modelKinds?.find(({ startsWith }) => id.startsWith(startsWith))?.kind;
        return {
          id,
          price,
          contextTokens: BigInt(contextTokens),
          outputTokensMax: BigInt(outputTokensMax),
          kind: shownKind(own),
        };
      });
      const { result, problem, httpStatus, durationMs } = answer;
      return { result, problem, httpStatus, durationMs, models };
    } finally {
      await served.upstream.close();
    }
  }

  #noteProved(settings: UpstreamSettings): void {
    const [oldest] = this.#proved;
    if (oldest !== undefined && this.#proved.size >= PROVED_MAX) this.#proved.delete(oldest);
    this.#proved.add(digestOf(settings));
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#retirement.close();
    await Promise.all([...this.#upstreams.values()].map((served) => served.upstream.close()));
  }

  /** The lists of those upstreams that stay as they are and serve their list. */
  #listsFor(
    settings: Settings,
    upstreams: ReadonlyMap<string, ServedUpstream>,
  ): ReadonlyMap<string, readonly ListedModel[]> {
    const isListed = listedUpstreams(settings);
    return new Map([...this.#listed].filter(([id]) => isListed(id) && upstreams.get(id) === this.#upstreams.get(id)));
  }

  /** Makes the table anew, with the lists as they are now. */
  async #load(): Promise<void> {
    const settings = this.#settings;
    const { table } = await loadTable(settings, this.#upstreams, this.#listed, this.options);
    // Settings that came into force meanwhile have a table of their own.
    if (settings === this.#settings) this.routing.replace(table);
  }

  #listSoon(afterMs: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#list(), afterMs);
    this.#timer.unref();
  }

  /** Asks upstreams for their lists. */
  async #list(): Promise<void> {
    const isListed = listedUpstreams(this.#settings);
    const asked = [...this.#upstreams.values()].filter(
      (served) => isListed(served.id) && served.family.modelsPath !== undefined,
    );
    let failed = false;
    await Promise.all(
      asked.map(async (served) => {
        try {
          this.#listed.set(served.id, await listModels(served));
        } catch (error) {
          if (this.#closed) return;
          failed = true;
          this.log.warn({ upstream: served.id, err: error }, "the upstream's list of models could not be read");
        }
      }),
    );
    if (this.#closed) return;
    if (asked.length > 0) await this.#load();
    this.#listSoon(failed ? LIST_RETRY_MS : LIST_AGAIN_MS);
  }
}

function connectedOrRefused(settings: UpstreamSettings, options: LoadOptions): ServedUpstream {
  try {
    return connectUpstream(settings, undefined, options);
  } catch (error) {
    throw invalid("object", error instanceof Error ? error.message : String(error));
  }
}

/** The upstreams whose lists are asked: those whose models the settings do not name one by one. */
function listedUpstreams(settings: Settings): (id: string) => boolean {
  const targeted = targetedUpstreams(settings);
  const wildcards = settings.models.filter(({ id }) => isWildcard(id));
  const ofWildcards = new Set(wildcards.flatMap(({ targets }) => targets.map(({ upstream }) => upstream)));
  return (id) => !targeted.has(id) || ofWildcards.has(id);
}

/** The upstreams of `table` that `kept` does not share. */
function othersThan(
  kept: ReadonlyMap<string, ServedUpstream>,
  table: ReadonlyMap<string, ServedUpstream>,
): readonly ServedUpstream[] {
  return [...table].filter(([id, served]) => kept.get(id) !== served).map(([, served]) => served);
}

/** Tells settings of upstreams apart, and holds no secret of theirs. Limits and costs do not change what was proved. */
function digestOf(settings: UpstreamSettings): string {
  const proved = { ...settings, limits: undefined, machineHourNanos: undefined };
  return createHash("sha256").update(JSON.stringify(proved)).digest("hex");
}
