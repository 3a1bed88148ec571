/** Webhooks as resources. Their secrets are shown when they are made, and kept sealed. */
import { invalid, requireEtag, stale } from "../api/check.js";
import { randomBytes } from "node:crypto";
import { WebhookSettings } from "../api/index.js";
import type { Act, AuditEvent } from "../audit/act.js";
import { GatewayError } from "../base/errors.js";
import { ID_CURSOR, cutPage, decodeToken } from "../store/page.js";
import type { AlertStep, Page, PageRequest, Store } from "../store/store.js";
import { masked } from "./masks.js";
import type { WebhookNetworks } from "./networks.js";
import { type Owner, ownerValues } from "./pages.js";
import { webhookRecord } from "./records.js";
import { toWebhook, type WebhookRow } from "./rows.js";
import { etagOf } from "./rules.js";
import type { SecretSeal } from "./seal.js";
import { makeSecret } from "./signature.js";

const WEBHOOKS_MAX = 100;
const NAME_CHARACTERS_MAX = 200;
const URL_CHARACTERS_MAX = 2_048;
const GRACE_SECONDS_MAX = 604_800;
const PAGE_ROWS = 500;

export interface WebhooksParts {
  readonly store: Pick<Store, "alertSteps">;
  readonly networks: WebhookNetworks;
  readonly seal: SecretSeal;
  readonly makeId: () => string;
  readonly nowMs: () => number;
}

export interface MadeWebhook {
  readonly webhook: WebhookRow;
  /** Shown once. */
  readonly secret: string;
}

export class Webhooks {
  constructor(private readonly parts: WebhooksParts) {}

  async create(accountId: string, given: WebhookSettings | undefined, act: Act): Promise<MadeWebhook> {
    if (given === undefined) throw new GatewayError("ERROR_REASON_PARAMETER_MISSING", { param: "settings" });
    if (given.url === "") throw new GatewayError("ERROR_REASON_PARAMETER_MISSING", { param: "settings.url" });
    const settings = this.#checked(given);
    const [[counted] = []] = await this.#steps([{ statement: "countWebhooks", values: { accountId } }]);
    if (Number(counted?.["count"] ?? 0) >= WEBHOOKS_MAX)
      throw invalid("account_id", `has ${WEBHOOKS_MAX} webhooks, which is the most: delete one of them first`);
    const id = `wh_${this.parts.makeId()}`;
    const secret = makeSecret(randomBytes);
    const createTimeMs = this.parts.nowMs();
    const made = { id, accountId, settings, secret: this.parts.seal.seal(id, secret), createTimeMs, revision: 1 };
    const webhook = { ...made, previousSecret: null, previousUntilMs: null };
    const values = { ...changeable(webhook), accountId, createTimeMs };
    await this.#steps([{ statement: "insertWebhook", values }], webhookRecord(act, { after: webhook }));
    return { webhook, secret };
  }

  async find(id: string): Promise<WebhookRow | undefined> {
    const [[row] = []] = await this.#steps([{ statement: "webhook", values: { id } }]);
    return row && toWebhook(row);
  }

  async list(owner: Owner, { size, token }: PageRequest): Promise<Page<WebhookRow>> {
    const afterId = decodeToken("webhooks", token, ID_CURSOR) ?? "";
    const values = { ...ownerValues(owner), afterId, count: size + 1 };
    const [rows = []] = await this.#steps([{ statement: "webhooks", values }]);
    return cutPage("webhooks", rows.map(toWebhook), size, ({ id }) => id);
  }

  update(
    webhook: WebhookRow,
    given: WebhookSettings | undefined,
    mask: readonly string[],
    { act, etag }: { readonly act: Act; readonly etag: string },
  ): Promise<WebhookRow> {
    requireEtag(etag, etagOf(webhook), "webhook", webhook.id);
    const settings = this.#checked(masked(webhook.settings, given, mask));
    return this.#replace(webhook, { ...webhook, settings }, act);
  }

  async rotate(webhook: WebhookRow, graceSeconds: number, act: Act): Promise<MadeWebhook> {
    if (graceSeconds > GRACE_SECONDS_MAX) throw invalid("grace_seconds", `must be from 0 to ${GRACE_SECONDS_MAX}`);
    const secret = makeSecret(randomBytes);
    const hasGrace = graceSeconds > 0;
    const next = {
      ...webhook,
      secret: this.parts.seal.seal(webhook.id, secret),
      previousSecret: hasGrace ? webhook.secret : null,
      previousUntilMs: hasGrace ? this.parts.nowMs() + graceSeconds * 1_000 : null,
    };
    return { webhook: await this.#replace(webhook, next, act), secret };
  }

  async delete(webhook: WebhookRow, act: Act): Promise<void> {
    const { id } = webhook;
    const steps: AlertStep[] = [
      { statement: "deleteWebhook", values: { id } },
      { statement: "dropDeliveries", values: { targetId: id } },
    ];
    await this.#steps(steps, webhookRecord(act, { before: webhook }));
  }

  /** Those that sign now, the newest first. None where no root secret of this process opens them. */
  secretsOf({ id, secret, previousSecret, previousUntilMs }: WebhookRow): readonly string[] {
    const isBoth = previousSecret !== null && previousUntilMs !== null && previousUntilMs > this.parts.nowMs();
    const sealed = isBoth ? [secret, previousSecret] : [secret];
    return sealed.map((bytes) => this.parts.seal.open(id, bytes)).filter((opened) => opened !== undefined);
  }

  /**
   * Seals anew what only the root secret before opens, while both are there. Returns how many webhooks it was. It is no
   * change of theirs: whoever read one of them may still change it.
   */
  async sealAnew(): Promise<number> {
    const { seal } = this.parts;
    if (!seal.hasPrevious) return 0;
    let count = 0;
    for (let afterId = ""; ;) {
      const values = { ...ownerValues(undefined), afterId, count: PAGE_ROWS };
      const [rows = []] = await this.#steps([{ statement: "webhooks", values }]);
      for (const { id, secret, previousSecret } of rows.map(toWebhook)) {
        const sealed = seal.sealAnew(id, secret);
        const sealedPrevious = previousSecret === null ? undefined : seal.sealAnew(id, previousSecret);
        if (sealed === undefined && sealedPrevious === undefined) continue;
        const next = { secret: sealed ?? secret, previousSecret: sealedPrevious ?? previousSecret };
        const [changed = []] = await this.#steps([{ statement: "sealAnew", values: { id, ...next, was: secret } }]);
        count += changed.length;
      }
      afterId = rows.length < PAGE_ROWS ? "" : String(rows.at(-1)?.["id"] ?? "");
      if (afterId === "") return count;
    }
  }

  async #replace(before: WebhookRow, next: WebhookRow, act: Act): Promise<WebhookRow> {
    const { previousSecret, previousUntilMs } = next;
    const { id, revision } = before;
    const values = { ...changeable(next), previousSecret, previousUntilMs, revision };
    const after = { ...next, revision: revision + 1 };
    const event = webhookRecord(act, { before, after });
    const [changed = []] = await this.#steps([{ statement: "replaceWebhook", values }], event);
    if (changed.length === 0) throw stale("webhook", id);
    return after;
  }

  #checked(settings: WebhookSettings): WebhookSettings {
    if (settings.name.length > NAME_CHARACTERS_MAX)
      throw invalid("settings.name", `must have at most ${NAME_CHARACTERS_MAX} characters`);
    if (settings.url.length > URL_CHARACTERS_MAX)
      throw invalid("settings.url", `must have at most ${URL_CHARACTERS_MAX} characters`);
    const problem = this.parts.networks.problemOfUrl(settings.url);
    if (problem !== undefined) throw invalid("settings.url", problem);
    return settings;
  }

  #steps(steps: readonly AlertStep[], event?: AuditEvent): ReturnType<Store["alertSteps"]> {
    return this.parts.store.alertSteps(steps, event);
  }
}

function changeable({ id, settings, secret }: Pick<WebhookRow, "id" | "settings" | "secret">): AlertStep["values"] {
  return { id, settings: WebhookSettings.encode(settings).finish(), paused: settings.paused ? 1 : 0, secret };
}
