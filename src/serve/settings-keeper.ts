/**
 * The settings in force: those of the file and the objects of the database. The file is read, checked and applied
 * whole, at the start and whenever it changes; an object that cannot be used here is set aside.
 */
import { basename } from "node:path";
import type { NamedSetting } from "../api/index.js";
import type { AlertRow } from "../alerts/rows.js";
import { type Act, eventOf, fileAct, type Subject } from "../audit/act.js";
import { type Change, changeOf } from "../audit/snapshot.js";
import { readSettingsFile, type SettingsFile } from "../config/file.js";
import { NO_SETTINGS, type Settings } from "../config/settings.js";
import { type SettingsWatch, watchSettings } from "../config/watch.js";
import { families } from "../families/index.js";
import type { Log } from "../observe/log.js";
import { withoutSecrets } from "../base/redaction.js";
import type { ObjectBoard, SettingsBoard } from "../rpc/call/core.js";
import type { Plans } from "../plans/plan.js";
import { withKeyVariables } from "../routing/load.js";
import type { PriceLists } from "../price-lists/price-lists.js";
import type { RouteTable } from "../routing/routing.js";
import { type FileObjects, fileObjects, NO_FILE_OBJECTS } from "../settings/file-objects.js";
import { idOf } from "../settings/object.js";
import type { Surroundings } from "../settings/object-set.js";
import type { SettingsObjects, UsableObjects } from "../settings/settings-objects.js";
import type { AuditStore } from "../store/store.js";
import { leftOut, logApplied, logPrices } from "./applied-log.js";
import { alertProblems, alertsOf } from "./file-alerts.js";
import { factsOf, type FileFacts } from "./file-facts.js";
import { unknownModels } from "./unknown-models.js";
import { DatabaseObjects } from "./object-board.js";
import { mergedSettings } from "./merged-settings.js";
import { ObjectWatch } from "./object-watch.js";
import type { PreparedRoutes, RouteKeeper } from "./routes.js";
import { protectSettings } from "./secrets.js";
import { planProblems, type PlansByName, plansByName } from "./seeded-plans.js";
import { type Applied, applySeeds, type SeedParts } from "./seeds.js";
import { FileBoard, NoFile } from "./settings-board.js";
import { problemOf } from "./settings-check.js";
import { SettingsThread } from "./settings-thread.js";
import { namedSettings } from "./settings-sources.js";

const SUBJECT: Subject = { resource: "settings/file", accountId: "" };
/** Of a refused file so much is recorded. */
const PROBLEMS_MAX = 10;
const PROBLEM_CHARACTERS_MAX = 300;

export interface SettingsKeeperOptions {
  /** Undefined where there is no file: then what the environment says is served. */
  readonly path: string | undefined;
  readonly env: NodeJS.ProcessEnv;
  /** Beginnings of references that a text may newly take where it is edited over the API. */
  readonly secretSources: readonly string[];
  readonly routes: RouteKeeper;
  readonly objects: SettingsObjects;
  readonly lists: PriceLists;
  readonly seeds: SeedParts;
  readonly audit: Pick<AuditStore, "append">;
  readonly log: Log;
  /** What is served now. */
  readonly served: () => RouteTable;
  /** How many nodes serve one database. */
  readonly nodes: () => Promise<number>;
  /** Hears of each file that came into force. */
  readonly onAccepted: (file: SettingsFile) => void;
  /** Hears of each file that was refused. */
  readonly onRefused: () => void;
}

/** Before the first file. */
const NOTHING_ASIDE: ReadonlyMap<string, string> = new Map();

export class SettingsKeeper {
  #watch: SettingsWatch | undefined;
  readonly #thread = new SettingsThread();
  /** Of the file alone. */
  #inForce: Settings = NO_SETTINGS;
  /** Of the file and the database. */
  #served: Settings = NO_SETTINGS;
  #fileObjects: FileObjects = NO_FILE_OBJECTS;
  #aside = NOTHING_ASIDE;
  /** What of the database is in force. */
  #stamp = "";
  readonly #watchObjects = new ObjectWatch(() => this.#look());
  /** What puts settings in force waits for what does so already. */
  #applying: Promise<unknown> = Promise.resolve();
  /** In force, by their names. */
  #plans: PlansByName = new Map();
  #alerts: readonly AlertRow[] = [];
  #keyIds: readonly string[] = [];
  /** What is told of the file in force; undefined before the first. */
  #told: FileFacts | undefined;
  /** Why a file was refused last. */
  #problems: readonly string[] = [];

  constructor(private readonly options: SettingsKeeperOptions) {}

  /** Puts the settings in force and watches their file. Rejects with a ConfigError where they are wrong. */
  async start(): Promise<void> {
    const { path, env, log, objects, lists } = this.options;
    await objects.refresh();
    await lists.refresh();
    this.#watchObjects.start();
    if (path === undefined) {
      await this.#useObjects();
      return;
    }
    await this.#use(readFile(path, env));
    this.#watch = watchSettings({
      path,
      env,
      load: async (changed, variables) => {
        const file = await this.#thread.read(changed, variables, basename(changed));
        protectSettings(file.settings);
        return file;
      },
      onSettings: async (file) => {
        await this.#use(file);
        log.info({ path, version: file.version, models: file.settings.models.length }, "settings reloaded");
      },
      onRefused: (problems) => {
        log.error(
          { path, problems },
          "the settings file is refused and changes nothing; the old settings stay in force",
        );
        this.#problems = problems;
        this.options.onRefused();
        void this.#recordRefusal(problems);
      },
    });
  }

  /** What metrics tell by the settings in force. */
  get metrics(): Settings["metrics"] {
    return this.#served.metrics;
  }

  /** The alerts of the file in force. */
  get alerts(): readonly AlertRow[] {
    return this.#alerts;
  }

  /** How people sign in by the settings in force. */
  get identity(): Settings["identity"] {
    return this.#served.identity;
  }

  /** The upstreams in force. */
  get upstreams(): Settings["upstreams"] {
    return this.#served.upstreams;
  }

  /** What is written each night by the settings in force. */
  get exports(): Settings["exports"] {
    return this.#inForce.exports;
  }

  /** How published prices are refreshed by the settings in force. */
  get prices(): Settings["prices"] {
    return this.#served.prices;
  }

  /** How accounts are paid into by the settings in force. */
  get payments(): Settings["payments"] {
    return this.#served.payments;
  }

  /** Puts in force what was committed, here or elsewhere. Never rejects. */
  catchUp(): Promise<void> {
    return this.#watchObjects.catchUp();
  }

  /** What operators see of the settings, and may change, and the plans in force. */
  get boards(): { readonly settings: SettingsBoard; readonly objects: ObjectBoard; readonly plans: Plans } {
    const plans: Plans = {
      get: (name) => this.#plans.get(name),
      find: async (name) => {
        await this.catchUp();
        return this.#plans.get(name);
      },
    };
    return { settings: this.#fileBoard, objects: this.#objectBoard, plans };
  }

  /** Seals secrets anew that only the root secret from before opens. Answers how many objects that were. */
  sealAnew(): Promise<number> {
    return this.options.objects.sealAnew();
  }

  get #fileBoard(): SettingsBoard {
    const { path, env, secretSources: sources, audit, seeds, served, nodes } = this.options;
    const named = (): Promise<NamedSetting[]> =>
      namedSettings(
        { settings: this.#inForce, keyIds: this.#keyIds, objects: this.options.objects.set.entries },
        served(),
        seeds,
      );
    if (path === undefined) return new NoFile(named);
    const reload = (): Promise<void> => this.reload();
    const version = (): string => this.#told?.version ?? "";
    return new FileBoard({
      path,
      env,
      thread: this.#thread,
      sources,
      audit,
      named,
      nodes,
      reload,
      version,
      problems: () => this.#problems,
    });
  }

  get #objectBoard(): ObjectBoard {
    const { objects, routes, served } = this.options;
    return new DatabaseObjects({
      objects,
      routes,
      served,
      file: () => this.#fileObjects,
      aside: () => this.#aside,
      around: () => this.#around(this.#inForce),
      merged: (set) => this.#merged(this.#inForce, set).settings,
      use: () => this.#tryObjects(),
      catchUp: () => this.catchUp(),
    });
  }

  /** Puts the objects of the database in force as they were read last, beside the file in force. */
  #useObjects(): Promise<void> {
    return this.#alone(async () => (await this.#prepare(this.#inForce)).commit());
  }

  /** Makes the routes of what is in force again: servers reported other facts about themselves. */
  refresh(): Promise<void> {
    return this.#useObjects();
  }

  /** Makes the routes of a file with the objects of now, without putting them in force. */
  async #prepare(file: Settings) {
    const { settings, usable } = this.#merged(file);
    const stamp = this.#stampOf(settings);
    protectSettings(settings);
    this.options.lists.use(settings.prices.refresh !== "pinned");
    const prepared = await this.options.routes.prepare(settings);
    const commit = (): void => {
      prepared.commit();
      this.#setAside(usable, prepared);
      this.#served = settings;
      this.#plans = plansByName(settings);
      this.#stamp = stamp;
    };
    return { prepared, usable, plans: settings.plans, commit };
  }

  /** Names all that the database has of what is in force with these settings. */
  #stampOf({ prices: { refresh } }: Settings): string {
    const { objects, lists } = this.options;
    return refresh === "pinned" ? objects.stamp : `${objects.stamp} ${lists.stamp}`;
  }

  async #look(): Promise<void> {
    const { objects, lists, log } = this.options;
    try {
      await objects.refresh();
      if (this.#served.prices.refresh !== "pinned") await lists.refresh();
    } catch (err) {
      // A database that is away is told of elsewhere; what is in force stays so.
      log.debug({ err }, "the settings objects could not be read");
    }
    if (this.#stampOf(this.#served) !== this.#stamp) await this.#tryObjects();
  }

  /** What fails is tried again at the next look. */
  async #tryObjects(): Promise<void> {
    const { objects, log } = this.options;
    try {
      await this.#useObjects();
      log.info({ revision: objects.set.revision }, "settings objects reloaded");
    } catch (err) {
      log.warn({ err }, "the settings objects could not be put in force; those from before stay so");
    }
  }

  /** The settings of a file with the objects. */
  #merged(
    file: Settings,
    set = this.options.objects.set,
  ): { readonly settings: Settings; readonly usable: UsableObjects } {
    const usable = this.options.objects.usable(this.#around(file), set);
    return { settings: mergedSettings(file, set, usable), usable };
  }

  #around({ upstreams, models, aliases }: Settings): Surroundings {
    const { env: environment, secretSources: sources } = this.options;
    const all = withKeyVariables({ upstreams }, { families, environment });
    const outside = {
      upstreams: new Map(all.map(({ id, family }) => [id, family])),
      models: new Set(models.map(({ id }) => id)),
    };
    return { families, outside, fileAliases: new Map(aliases.map(({ id, model }) => [id, model])), sources };
  }

  /** Remembers, and logs where it is new, what of the objects this node does not use. */
  #setAside(usable: UsableObjects, { unserved, unservedAliases, unconnected }: PreparedRoutes): void {
    const models = new Set(usable.models.map(({ id }) => id));
    const aside = new Map(usable.aside);
    for (const { id, rule } of unconnected) aside.set(idOf({ kind: "upstream", name: id }), rule);
    for (const { id, rule } of unserved) if (models.has(id)) aside.set(idOf({ kind: "model", name: id }), rule);
    for (const { id, rule } of unservedAliases) aside.set(idOf({ kind: "alias", name: id }), rule);
    for (const [object, reason] of aside)
      if (this.#aside.get(object) !== reason)
        this.options.log.warn({ object, reason }, "this node does not use a settings object; everything else serves");
    this.#aside = aside;
  }

  async #alone<Result>(run: () => Promise<Result>): Promise<Result> {
    const running = this.#applying.then(run);
    this.#applying = running.catch(() => undefined);
    return running;
  }

  /** Reads the file once more, changed or not. Never rejects: a refusal is logged. */
  async reload(): Promise<void> {
    if (this.#watch === undefined) this.options.log.warn({}, "there is no settings file to reload");
    await this.#watch?.reload();
  }

  async close(): Promise<void> {
    this.#watchObjects.close();
    await this.#watch?.close();
    await this.#applying;
  }

  /** Whatever can be refused is asked first, so that a file that is refused leaves everything as it was. */
  #use(file: SettingsFile): Promise<void> {
    return this.#alone(() => this.#apply(file));
  }

  async #apply(file: SettingsFile): Promise<void> {
    const { seeds, log } = this.options;
    const { settings } = file;
    const { prepared, usable, plans, commit } = await this.#prepare(settings);
    const ofObjects = new Set(usable.models.map(({ id }) => id));
    let applied: Applied;
    try {
      const unserved = prepared.unserved.filter(({ id }) => !ofObjects.has(id));
      const unknownPlans = await planProblems({ ...settings, plans }, seeds.ledger);
      const problems = [
        ...unserved.map(problemOf),
        ...unknownModels(settings, this.options.objects.set),
        ...alertProblems(settings),
        ...unknownPlans,
      ];
      if (problems.length > 0) throw await file.refusal(problems);
      const act = fileAct("settings.apply", file.version, seeds.nowMs());
      applied = await applySeeds(seeds, { ...settings, plans }, act);
      const before = { settings: this.#inForce, keyIds: this.#keyIds };
      logApplied(log, this.options.path, applied, leftOut(before, { settings, keyIds: applied.keyIds }));
      // Recorded before it comes into force: what cannot be recorded does not.
      await this.#record(act, { before: this.#told, after: factsOf(file) });
    } catch (error) {
      prepared.discard();
      throw error;
    }
    commit();
    logPrices(log, prepared.sold);
    this.#inForce = settings;
    this.#fileObjects = fileObjects(file.blocks);
    this.#keyIds = applied.keyIds;
    this.#alerts = alertsOf(settings);
    this.#told = factsOf(file);
    this.options.onAccepted(file);
  }

  async #record(act: Act, change: Change, refused: Partial<Subject> = {}): Promise<void> {
    await this.options.audit.append(eventOf(act, { ...SUBJECT, ...changeOf(change), ...refused }));
  }

  async #recordRefusal(problems: readonly string[]): Promise<void> {
    const { seeds, log } = this.options;
    const told = problems
      .slice(0, PROBLEMS_MAX)
      .map((problem) => withoutSecrets(problem).slice(0, PROBLEM_CHARACTERS_MAX));
    const act = fileAct("settings.apply", "", seeds.nowMs());
    try {
      await this.#record(act, { after: { problems: told } }, { result: "refused", reason: "SETTINGS_REFUSED" });
    } catch (err) {
      log.warn({ err }, "a refused settings file was not recorded");
    }
  }
}

function readFile(path: string, env: NodeJS.ProcessEnv): SettingsFile {
  const file = readSettingsFile(path, env, families);
  protectSettings(file.settings);
  return file;
}
