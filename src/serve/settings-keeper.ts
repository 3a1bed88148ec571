/** The settings in force: the file is read, checked and applied whole, at the start and whenever it changes. */
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
import type { SettingsBoard } from "../rpc/call/core.js";
import type { AuditStore } from "../store/store.js";
import { alertProblems, alertsOf } from "./file-alerts.js";
import type { RouteKeeper } from "./routes.js";
import { protectSettings } from "./secrets.js";
import { type Applied, applySeeds, type SeedParts, leftOut } from "./seeds.js";
import { FileBoard, NoFile } from "./settings-board.js";
import { problemOf } from "./settings-check.js";
import { SettingsThread } from "./settings-thread.js";
import { namedSettings, type Served } from "./settings-sources.js";
import { soldAt, type SoldModel } from "./sold-models.js";

const SUBJECT: Subject = { resource: "settings/file", accountId: "" };
/** Of a refused file so much is recorded. */
const PROBLEMS_MAX = 10;
const PROBLEM_CHARACTERS_MAX = 300;
/** So many prices stand in a line of the log; 'tollgate models' lists all. */
const PRICES_TOLD_MAX = 100;

export interface SettingsKeeperOptions {
  /** Undefined where there is no file: then what the environment says is served. */
  readonly path: string | undefined;
  readonly env: NodeJS.ProcessEnv;
  /** Beginnings of references that a text may newly take where it is edited over the API. */
  readonly secretSources: readonly string[];
  readonly routes: RouteKeeper;
  readonly seeds: SeedParts;
  readonly audit: Pick<AuditStore, "append">;
  readonly log: Log;
  /** What is served now. */
  readonly served: () => Served;
  /** How many nodes serve one database. */
  readonly nodes: () => Promise<number>;
  /** Hears of each file that came into force. */
  readonly onAccepted: (file: SettingsFile) => void;
  /** Hears of each file that was refused. */
  readonly onRefused: () => void;
}

/** Which file it is, and how much it says. */
interface Told extends Readonly<Record<string, unknown>> {
  readonly version: string;
}

export class SettingsKeeper {
  #watch: SettingsWatch | undefined;
  readonly #thread = new SettingsThread();
  #inForce: Settings = NO_SETTINGS;
  #alerts: readonly AlertRow[] = [];
  #keyIds: readonly string[] = [];
  /** What is told of the file in force; undefined before the first. */
  #told: Told | undefined;
  /** Why a file was refused last. */
  #problems: readonly string[] = [];

  constructor(private readonly options: SettingsKeeperOptions) {}

  /** Puts the settings in force and watches their file. Rejects with a ConfigError where they are wrong. */
  async start(): Promise<void> {
    const { path, env, log } = this.options;
    if (path === undefined) {
      (await this.options.routes.prepare(NO_SETTINGS)).commit();
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
    return this.#inForce.metrics;
  }

  /** The alerts of the file in force. */
  get alerts(): readonly AlertRow[] {
    return this.#alerts;
  }

  /** How people sign in by the settings in force. */
  get identity(): Settings["identity"] {
    return this.#inForce.identity;
  }

  /** What is written each night by the settings in force. */
  get exports(): Settings["exports"] {
    return this.#inForce.exports;
  }

  /** How accounts are paid into by the settings in force. */
  get payments(): Settings["payments"] {
    return this.#inForce.payments;
  }

  /** What operators see of the file, and may change. */
  get board(): SettingsBoard {
    const { path, env, secretSources: sources, audit, seeds, served, nodes } = this.options;
    const named = (): Promise<NamedSetting[]> =>
      namedSettings({ settings: this.#inForce, keyIds: this.#keyIds }, served(), seeds);
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

  /** Reads the file once more, changed or not. Never rejects: a refusal is logged. */
  async reload(): Promise<void> {
    if (this.#watch === undefined) this.options.log.warn({}, "there is no settings file to reload");
    await this.#watch?.reload();
  }

  async close(): Promise<void> {
    await this.#watch?.close();
  }

  /** Whatever can be refused is asked first, so that a file that is refused leaves everything as it was. */
  async #use(file: SettingsFile): Promise<void> {
    const { routes, seeds, log } = this.options;
    const { settings } = file;
    const prepared = await routes.prepare(settings);
    let applied: Applied;
    try {
      const problems = [...prepared.unserved.map(problemOf), ...alertProblems(settings)];
      if (problems.length > 0) throw await file.refusal(problems);
      const act = fileAct("settings.apply", file.version, seeds.nowMs());
      applied = await applySeeds(seeds, settings, act);
      for (const difference of applied.differences)
        log.warn(
          { path: this.options.path, difference },
          "the file creates accounts and keys once; this difference is ignored",
        );
      for (const left of leftOut(this.#inForce, settings, this.#keyIds, applied.keyIds))
        log.warn({ path: this.options.path, left }, "removed from the file, but still exists");
      // Recorded before it comes into force: what cannot be recorded does not.
      await this.#record(act, { before: this.#told, after: factsOf(file) });
    } catch (error) {
      prepared.discard();
      throw error;
    }
    prepared.commit();
    this.#tellPrices(prepared.sold);
    this.#inForce = settings;
    this.#keyIds = applied.keyIds;
    this.#alerts = alertsOf(settings);
    this.#told = factsOf(file);
    this.options.onAccepted(file);
  }

  #tellPrices(sold: readonly SoldModel[]): void {
    const { log } = this.options;
    const prices = sold.slice(0, PRICES_TOLD_MAX).map((model) => `${model.id}: ${soldAt(model)}`);
    if (sold.length > 0) log.info({ prices, models: sold.length }, "model prices, in USD per million tokens");
    for (const loss of sold.flatMap(({ losses }) => losses)) log.warn({}, loss);
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

/** What the log of changes tells of a file: which it is, and how much it says. Its own history is its owner's. */
function factsOf({ version, settings }: SettingsFile): Told {
  const { upstreams, models, accounts, keys, alerts, identity } = settings;
  const counts = { models: models.length, accounts: accounts.length, keys: keys.length, alerts: alerts.length };
  const issuers = identity.issuers.map(({ name }) => name);
  return { version, upstreams: upstreams.map(({ id }) => id), ...counts, ...(issuers.length === 0 ? {} : { issuers }) };
}

function readFile(path: string, env: NodeJS.ProcessEnv): SettingsFile {
  const file = readSettingsFile(path, env, families);
  protectSettings(file.settings);
  return file;
}
