/** Keeps the table of routes in step with the settings and with the upstreams' own lists of models. */
import type { Settings } from "../config/settings.js";
import type { ListedModel } from "../families/family.js";
import type { Log } from "../observe/log.js";
import { listModels } from "../routing/listing.js";
import { connectUpstreams, loadTable, type LoadOptions } from "../routing/load.js";
import type { ServedUpstream } from "../routing/model.js";
import type { Routing } from "../routing/routing.js";

const LIST_AGAIN_MS = 600_000;
const LIST_RETRY_MS = 15_000;

export class RouteKeeper {
  #settings: Settings = { upstreams: [], models: [], accounts: [], keys: [] };
  #upstreams: ReadonlyMap<string, ServedUpstream> = new Map();
  readonly #listed = new Map<string, readonly ListedModel[]>();
  #timer: NodeJS.Timeout | undefined;
  #told = "";
  #closed = false;

  constructor(
    private readonly routing: Routing,
    private readonly options: LoadOptions,
    private readonly log: Log,
  ) {}

  /** Puts settings in force. Rejects, and changes nothing, where they cannot be. */
  async use(settings: Settings): Promise<void> {
    const before = this.#upstreams;
    const upstreams = connectUpstreams(settings, before, this.options);
    this.#settings = settings;
    this.#upstreams = upstreams;
    for (const id of this.#listed.keys()) if (!upstreams.has(id)) this.#listed.delete(id);
    await this.#load();
    for (const [id, served] of before) {
      // What runs on a dropped upstream ends by itself; closing waits for it.
      if (upstreams.get(id) !== served) void served.upstream.close();
    }
    this.#listSoon(0);
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await Promise.all([...this.#upstreams.values()].map((served) => served.upstream.close()));
  }

  async #load(): Promise<void> {
    const loaded = await loadTable(this.#settings, this.#upstreams, this.#listed, this.options);
    this.routing.replace(loaded.table);
    // Of listed models most have no public price; only what the settings name deserves a line, and once.
    const named = loaded.problems.filter((problem) =>
      this.#settings.models.some((model) => problem.startsWith(`models.${model.id}:`)),
    );
    const told = named.join("\n");
    if (told !== this.#told) for (const problem of named) this.log.warn({ problem }, "model not served");
    this.#told = told;
  }

  #listSoon(afterMs: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#list(), afterMs);
    this.#timer.unref();
  }

  /** Asks those upstreams whose models the settings do not name. */
  async #list(): Promise<void> {
    const targeted = new Set(this.#settings.models.flatMap((model) => model.targets.map((target) => target.upstream)));
    const asked = [...this.#upstreams.values()].filter(
      (served) => !targeted.has(served.id) && served.family.modelsPath !== undefined,
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
