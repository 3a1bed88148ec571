/** Alerts as resources: made, changed and ended over the API, or standing in the settings file. */
import { invalid, requireEtag, stale, unknown } from "../api/check.js";
import { AlertSettings } from "../api/index.js";
import type { Act, AuditEvent } from "../audit/act.js";
import { GatewayError } from "../base/errors.js";
import { ID_CURSOR, cutPage, decodeToken } from "../store/page.js";
import type { AlertStep, Page, PageRequest, Store } from "../store/store.js";
import { checkSettings } from "./kinds.js";
import { masked } from "./masks.js";
import { type Owner, ownerValues } from "./pages.js";
import { alertRecord } from "./records.js";
import { type AlertRow, text, toAlert } from "./rows.js";

export const FILE_PREFIX = "file:";
const ALERTS_MAX = 100;
const ALL_PAGE = 500;

export interface RulesParts {
  readonly store: Pick<Store, "alertSteps" | "keys">;
  readonly makeId: () => string;
  readonly nowMs: () => number;
  /** Those of the settings file in force. */
  readonly ofFile: () => readonly AlertRow[];
  /** Those of the addresses that an account's alert may not tell. */
  readonly strangers: (accountId: string, emails: readonly string[]) => Promise<readonly string[]>;
  /** Called after each change. */
  readonly onChange: (alertId: string) => void;
}

/** The etag of a row: a text that differs after each change. */
export function etagOf({ id, revision }: { readonly id: string; readonly revision: number }): string {
  return `${id}.${revision}`;
}

export class Rules {
  constructor(private readonly parts: RulesParts) {}

  async create(accountId: string, given: AlertSettings | undefined, act: Act): Promise<AlertRow> {
    if (given === undefined) throw new GatewayError("ERROR_REASON_PARAMETER_MISSING", { param: "settings" });
    const settings = checkSettings(given, accountId);
    await this.#checkNamed(settings, accountId);
    const [[counted] = []] = await this.#steps([{ statement: "countAlerts", values: { accountId } }]);
    if (Number(counted?.["count"] ?? 0) >= ALERTS_MAX)
      throw invalid("account_id", `has ${ALERTS_MAX} alerts, which is the most: delete one of them first`);
    const createTimeMs = this.parts.nowMs();
    const row = { id: `alert_${this.parts.makeId()}`, accountId, settings, createTimeMs, revision: 1 };
    const values = { id: row.id, accountId, settings: AlertSettings.encode(settings).finish(), createTimeMs };
    await this.#steps([{ statement: "insertAlert", values }], alertRecord(act, { after: row }));
    this.parts.onChange(row.id);
    return row;
  }

  /** Undefined where there is none. */
  async find(id: string): Promise<AlertRow | undefined> {
    if (isOfFile(id)) return this.parts.ofFile().find((alert) => alert.id === id);
    const [[row] = []] = await this.#steps([{ statement: "alert", values: { id } }]);
    return row && toAlert(row);
  }

  async list(owner: Owner, { size, token }: PageRequest): Promise<Page<AlertRow>> {
    const after = decodeToken("alerts", token, ID_CURSOR) ?? "";
    const values = { ...ownerValues(owner), afterId: after, count: size + 1 };
    const [found = []] = await this.#steps([{ statement: "alerts", values }]);
    const ofFile = this.parts
      .ofFile()
      .filter(({ id, accountId }) => id > after && (owner === undefined || owner === accountId));
    const rows = [...ofFile, ...found.map(toAlert)].toSorted((a, b) => (a.id < b.id ? -1 : 1)).slice(0, size + 1);
    return cutPage("alerts", rows, size, ({ id }) => id);
  }

  /** All that are not paused. */
  async active(): Promise<readonly AlertRow[]> {
    const found: AlertRow[] = [...this.parts.ofFile()];
    for (let afterId = ""; ;) {
      const values = { ...ownerValues(undefined), afterId, count: ALL_PAGE };
      const [rows = []] = await this.#steps([{ statement: "alerts", values }]);
      found.push(...rows.map(toAlert));
      const last = rows.at(-1);
      if (rows.length < ALL_PAGE || last === undefined) break;
      afterId = text(last, "id");
    }
    return found.filter(({ settings }) => !settings.paused);
  }

  async update(
    alert: AlertRow,
    given: AlertSettings | undefined,
    mask: readonly string[],
    { act, etag }: { readonly act: Act; readonly etag: string },
  ): Promise<AlertRow> {
    this.#requireOfApi(alert);
    requireEtag(etag, etagOf(alert), "alert", alert.id);
    const settings = checkSettings(masked(alert.settings, given, mask), alert.accountId);
    await this.#checkNamed(settings, alert.accountId);
    const { id, revision } = alert;
    const values = { id, revision, settings: AlertSettings.encode(settings).finish() };
    const after = { ...alert, settings, revision: revision + 1 };
    const event = alertRecord(act, { before: alert, after });
    const [changed = []] = await this.#steps([{ statement: "replaceAlert", values }], event);
    if (changed.length === 0) throw stale("alert", id);
    this.parts.onChange(id);
    return after;
  }

  async delete(alert: AlertRow, act: Act): Promise<void> {
    this.#requireOfApi(alert);
    const { id } = alert;
    const steps: AlertStep[] = [
      { statement: "deleteAlert", values: { id } },
      { statement: "deleteStates", values: { id } },
    ];
    await this.#steps(steps, alertRecord(act, { before: alert }));
    this.parts.onChange(id);
  }

  /** True where this was the id of an alert of the settings file that is not in it any more. */
  isGoneFromFile(id: string): boolean {
    return isOfFile(id) && !this.parts.ofFile().some((alert) => alert.id === id);
  }

  /** What the alert tells of now. */
  async firing(alertId: string): Promise<readonly string[]> {
    const [rows = []] = await this.#steps([{ statement: "statesOf", values: { alertId } }]);
    return rows.map((row) => text(row, "subject"));
  }

  #requireOfApi({ id }: AlertRow): void {
    if (isOfFile(id)) throw invalid("id", "is that of an alert of the settings file: change it there");
  }

  /** An account's alert watches its own keys alone, and tells its own webhooks and members. */
  async #checkNamed({ keyId, webhookIds, emails }: AlertSettings, accountId: string): Promise<void> {
    if (accountId !== "" && keyId !== "" && !(await this.#isKeyOf(accountId, keyId))) throw unknown("key", keyId);
    const [stranger] = await this.parts.strangers(accountId, emails);
    if (stranger !== undefined)
      throw invalid("settings.emails", `must be addresses of the account's members, which ${stranger} is not`);
    const found = await this.#steps(webhookIds.map((id) => ({ statement: "webhook", values: { id } })));
    for (const [index, id] of webhookIds.entries()) {
      const row = found[index]?.[0];
      if (row === undefined || text(row, "account_id") !== accountId) throw unknown("webhook", id);
    }
  }

  async #isKeyOf(accountId: string, keyId: string): Promise<boolean> {
    return (await this.parts.store.keys.get(keyId))?.accountId === accountId;
  }

  #steps(steps: readonly AlertStep[], event?: AuditEvent): ReturnType<Store["alertSteps"]> {
    return this.parts.store.alertSteps(steps, event);
  }
}

function isOfFile(id: string): boolean {
  return id.startsWith(FILE_PREFIX);
}
