/** What becomes of the keys, teams and people of a LiteLLM proxy's database. */
import type { CarriedLimits } from "./litellm-limits.js";
import { limitsOfRow } from "./litellm-limits.js";
import { createHash } from "node:crypto";
import type { BudgetRow, KeyTokenRow, LiteLlmRows, TeamRow, UserRow } from "./litellm-rows.js";

export interface PlannedAccount {
  readonly id: string;
  readonly name: string;
  readonly limits: CarriedLimits;
  /** It may send no request. */
  readonly isBlocked: boolean;
}

export interface PlannedKey {
  readonly accountId: string;
  readonly name: string;
  readonly sha256: string;
  readonly hint: string;
  readonly models: readonly string[];
  readonly expireTime: Date | undefined;
  readonly limits: CarriedLimits;
  readonly metadata: Readonly<Record<string, string>>;
}

/** Where a thing stands, such as `key ci`, and what differs or why it is left. */
export interface Remark {
  readonly what: string;
  readonly reason: string;
}

export interface Estate {
  readonly accounts: readonly PlannedAccount[];
  readonly keys: readonly PlannedKey[];
  /** Carried with a difference. */
  readonly differences: readonly Remark[];
  /** Not carried, and what to do. */
  readonly left: readonly Remark[];
}

const SHA256_HEX = /^[0-9a-f]{64}$/;
const ID = /^[a-z0-9_.-]{1,64}$/;
/** Of keys that belong to no team and no person. */
const REST = "litellm";
/** How the ids of people's accounts begin. */
const PERSON = "user-";
const NAME_LENGTH_MAX = 100;
const ID_LENGTH_MAX = 64;
const MARK_LENGTH = 8;
const HINT_LENGTH_MAX = 20;
const METADATA_MAX = 16;
const METADATA_LENGTH_MAX = 200;
/** Names that stand for other lists of models. */
const ALL_TEAM = "all-team-models";
const ALL = "all-proxy-models";
const NONE = "no-default-models";
/** Columns of keys, teams and people that say what has no place here. */
const UNREAD: Readonly<Record<string, string>> = {
  aliases: "its own names of models have no place: set aliases of the gateway",
  config: "its own parameters have no place: set parameters of models",
  router_settings: "its own routing has no place",
  permissions: "its permissions have no place: set scopes of the key",
  allowed_routes: "its list of routes has no place: set scopes of the key",
  model_max_budget: "its budgets of single models have no place",
  budget_limits: "its further budgets have no place",
  soft_budget: "its soft budget has no place: make an alert",
  tpd_limit: "its tokens per day have no place",
  policies: "its policies have no place",
  access_group_ids: "its access groups have no place: name the models",
  project_id: "its project has no place",
  organization_id: "its organization has no place",
};

/** No model has this name: a key with it alone may use none. */
const NO_MODEL = "none-is-allowed";

/** `nowMs` decides which keys have expired. */
export function estateOf(rows: LiteLlmRows, nowMs: number): Estate {
  return new Planner(rows, nowMs).plan();
}

class Planner {
  readonly #teams: ReadonlyMap<string, TeamRow>;
  readonly #users: ReadonlyMap<string, UserRow>;
  readonly #budgets: ReadonlyMap<string, BudgetRow>;
  readonly #accounts = new Map<string, PlannedAccount>();
  readonly #keys: PlannedKey[] = [];
  readonly #differences: Remark[] = [];
  readonly #left: Remark[] = [];

  constructor(
    private readonly rows: LiteLlmRows,
    private readonly nowMs: number,
  ) {
    this.#teams = new Map(rows.teams.map((team) => [team.team_id, team]));
    this.#users = new Map(rows.users.map((user) => [user.user_id, user]));
    this.#budgets = new Map(rows.budgets.map((budget) => [budget.budget_id, budget]));
  }

  plan(): Estate {
    for (const team of this.rows.teams) this.#addTeam(team);
    const byToken = new Map(this.rows.keys.map((key) => [key.token, key]));
    for (const key of this.rows.keys) this.#addKey(key);
    for (const { token, active_token_id: active, revoke_at: end } of this.rows.deprecated) {
      const key = byToken.get(active);
      if (key === undefined) continue;
      const name = `${nameOf(key)} (before its rotation)`;
      this.#differ(`key ${name}`, "it is a key of its own until it ends, with budgets and limits of its own");
      this.#addKey({ ...key, token, key_alias: name, key_name: null, expires: end });
    }
    this.#leavePeople();
    return {
      accounts: [...this.#accounts.values()],
      keys: this.#keys,
      differences: this.#differences,
      left: this.#left,
    };
  }

  #addTeam(team: TeamRow): void {
    const name = team.team_alias || team.team_id;
    this.#differOfUnread(team, `team ${name}`);
    const limits = limitsOfRow(team, this.#budgets, (what) => this.#differ(`team ${name}`, what));
    this.#addAccount({ id: teamIdOf(team.team_id), name, limits, isBlocked: team.blocked === true });
  }

  #addAccount(account: PlannedAccount): void {
    this.#accounts.set(account.id, { ...account, name: account.name.slice(0, NAME_LENGTH_MAX) });
    if (account.limits.budget === undefined)
      this.#leave(
        `the balance of the account ${account.name}`,
        "there was no budget: credit the account, or give it a credit line",
      );
  }

  #addKey(row: KeyTokenRow): void {
    const name = nameOf(row);
    const what = `key ${name}`;
    if (!SHA256_HEX.test(row.token)) return this.#leave(what, "its secret is not stored as a digest: make another key");
    if (row.blocked === true) return this.#leave(what, "it is blocked: unblock it and import again if it is to work");
    if (row.expires != null && row.expires.getTime() <= this.nowMs) return this.#leave(what, "it has expired");
    this.#differOfUnread(row, what);
    const team = row.team_id == null ? undefined : this.#teams.get(row.team_id);
    this.#keys.push({
      accountId: team === undefined ? this.#ownAccount(row.user_id ?? undefined) : teamIdOf(team.team_id),
      name: name.slice(0, NAME_LENGTH_MAX),
      sha256: row.token,
      hint: hintOf(row.key_name),
      models: this.#modelsOf(row, team ?? this.#user(row), what),
      expireTime: row.expires ?? undefined,
      limits: limitsOfRow(row, this.#budgets, (difference) => this.#differ(what, difference)),
      metadata: this.#metadataOf(row, what),
    });
  }

  /** Keys without a team are their person's, who has an account of the same name. */
  #ownAccount(userId: string | undefined): string {
    const id = userId === undefined ? REST : idOf(`${PERSON}${userId}`);
    if (this.#accounts.has(id)) return id;
    const user = this.#users.get(userId ?? "");
    const name = user?.user_alias || user?.user_email || userId || "Keys without a team";
    if (user !== undefined) this.#differOfUnread(user, `person ${name}`);
    const limits = limitsOfRow(user ?? {}, this.#budgets, (what) => this.#differ(`person ${name}`, what));
    this.#addAccount({ id, name, limits, isBlocked: false });
    return id;
  }

  /** The person of a key without a team. */
  #user({ user_id: id }: KeyTokenRow): UserRow | undefined {
    return id == null ? undefined : this.#users.get(id);
  }

  /** A key without a list of its own has that of its team, or without one of its person. */
  #modelsOf({ models }: KeyTokenRow, team: Pick<TeamRow, "models"> | undefined, what: string): readonly string[] {
    const own = models ?? [];
    const listed = own.length === 0 || own.includes(ALL_TEAM) ? [...own, ...(team?.models ?? [])] : own;
    if (listed.includes(NONE)) return [NO_MODEL];
    if (listed.includes(ALL)) return [];
    const names = [...new Set(listed)].filter((name) => name !== ALL_TEAM);
    if (team !== undefined && own.length > 0 && (team.models ?? []).length > 0 && !own.includes(ALL_TEAM))
      this.#differ(what, "its list of models counts alone: the team's list does not narrow it");
    return names;
  }

  #metadataOf({ metadata }: KeyTokenRow, what: string): Readonly<Record<string, string>> {
    const block = typeof metadata === "object" && metadata !== null ? metadata : {};
    const kept: Record<string, string> = {};
    for (const [name, value] of Object.entries(block)) {
      if (name === "tags" && Array.isArray(value)) kept["tags"] = value.join(",").slice(0, METADATA_LENGTH_MAX);
      else if (
        typeof value === "string" &&
        /^[a-z0-9_.-]{1,64}$/i.test(name) &&
        Object.keys(kept).length < METADATA_MAX
      )
        kept[name] = value.slice(0, METADATA_LENGTH_MAX);
      else if (isSaid(value)) this.#differ(what, `its metadata ${name} has no place`);
    }
    return kept;
  }

  #leavePeople(): void {
    if (this.rows.users.length > 0)
      this.#leave(
        `${this.rows.users.length} people`,
        "their passwords cannot be read: invite them, or set up sign-in by your identity provider",
      );
  }

  #differOfUnread(row: object, what: string): void {
    const said: Readonly<Record<string, unknown>> = { ...row };
    for (const [column, reason] of Object.entries(UNREAD)) if (isSaid(said[column])) this.#differ(what, reason);
  }

  #differ(what: string, reason: string): void {
    this.#differences.push({ what, reason });
  }

  #leave(what: string, reason: string): void {
    this.#left.push({ what, reason });
  }
}

/** Nothing is lost where a block, a list or a value says nothing. */
function isSaid(value: unknown): boolean {
  if (value === null || value === undefined || value === false) return false;
  return typeof value !== "object" || Object.keys(value).length > 0;
}

function nameOf({ key_alias: alias, key_name: masked, token }: KeyTokenRow): string {
  return alias || masked || `imported ${token.slice(0, 8)}`;
}

function hintOf(masked: string | null | undefined): string {
  return masked != null && masked.length <= HINT_LENGTH_MAX && /^[\x21-\x7e]+$/.test(masked) ? masked : "";
}

/** The id of a team's account, which no account of a person has. */
function teamIdOf(id: string): string {
  return id === REST || id.startsWith(PERSON) ? marked(id) : idOf(id);
}

/**
 * As an account's id may be. One text has one id, so that a second import finds the account of the first. A text that
 * is changed gets a mark, so that two texts have two ids.
 */
function idOf(text: string): string {
  return ID.test(text) ? text : marked(text);
}

function marked(text: string): string {
  const readable = text.toLowerCase().replaceAll(/[^a-z0-9_.-]+/g, "-");
  const mark = createHash("sha256").update(text).digest("hex").slice(0, MARK_LENGTH);
  return `${readable.slice(0, ID_LENGTH_MAX - MARK_LENGTH - 1)}-${mark}`;
}
