/** Alerts as the rest of the program uses them: rules, events and their ways out, over the store of the ledger. */
import type { Log } from "../observe/log.js";
import type { Store } from "../store/store.js";
import { Deliveries } from "./deliveries.js";
import { webhookBody } from "./envelope.js";
import { Evaluator } from "./evaluator.js";
import { EventMaker } from "./event-maker.js";
import { Events } from "./events.js";
import { resolveName, type Resolve } from "./names.js";
import { WebhookNetworks } from "./networks.js";
import { Mail, type MailOptions } from "./mail.js";
import { MailGate } from "./mail-gate.js";
import { NO_SOURCES, type NodeSources, NodeWatch } from "./node-watch.js";
import { post, type Posted } from "./post.js";
import { type AlertRow, type DeliveryRow, type EventRow, MAIL_TARGET } from "./rows.js";
import { Rules } from "./rules.js";
import { type SealKeys, SecretSeal } from "./seal.js";
import { Sender } from "./sender.js";
import { signedHeaders } from "./signature.js";
import { Webhooks } from "./webhooks.js";

export interface AlertsOptions {
  readonly store: Pick<Store, "alertSteps" | "keys">;
  readonly nodeId: string;
  readonly log: Log;
  /** For webhooks' secrets. */
  readonly sealKeys: SealKeys;
  /** Networks that are not public and that webhooks may lead to. */
  readonly networks: readonly string[];
  /** 32 characters that never come again. */
  readonly makeId: () => string;
  readonly nowMs: () => number;
  readonly userAgent: string;
  /** Absent: no mail is sent. */
  readonly mail?: MailOptions | undefined;
  /** What the node sees by itself. Default: nothing. */
  readonly sources?: NodeSources;
  /** The alerts of the settings file in force. Default: none. */
  readonly fileAlerts?: () => readonly AlertRow[];
  /** Called when a proof of the ledger ended. */
  readonly onProved?: (holds: boolean) => void;
  /** How often alerts are looked at. Default: 10 s. */
  readonly everyMs?: number;
  /** For an attempt at a webhook. Default: 15 s. */
  readonly attemptMs?: number;
  /** Default: the system's servers of names. */
  readonly resolve?: Resolve;
}

const EVERY_MS = 10_000;
const NO_MAIL: Posted = { status: 0, problem: "there is no mail server: set TOLLGATE_SMTP_URL", answer: "" };
const UNREADABLE: Posted = {
  status: 0,
  problem: "its secret cannot be opened: TOLLGATE_SECRET changed; give the webhook a new secret",
  answer: "",
};

const UNHEARD =
  "this alert has no recipient: add emails and set TOLLGATE_SMTP_URL, or create a webhook with 'tollgate webhooks create'; " +
  "until then 'tollgate events watch' and the console alone show it";

export class Alerts {
  readonly rules: Rules;
  readonly events: Events;
  readonly webhooks: Webhooks;
  readonly deliveries: Deliveries;
  readonly maker: EventMaker;
  readonly evaluator: Evaluator;
  readonly watch: NodeWatch;
  readonly #sender: Sender;
  readonly #networks: WebhookNetworks;
  readonly #mail: Mail | undefined;
  readonly #mailGate: MailGate;

  constructor(private readonly options: AlertsOptions) {
    const { store, nodeId, log, makeId, nowMs } = options;
    this.#networks = new WebhookNetworks(options.networks);
    this.#mail = options.mail && new Mail(options.mail);
    const seal = new SecretSeal(options.sealKeys);
    this.events = new Events(store);
    this.webhooks = new Webhooks({ store, networks: this.#networks, seal, makeId, nowMs });
    this.#sender = new Sender({
      store,
      send: (delivery, event) => this.#send(delivery, event),
      nowMs,
      random: Math.random,
      onError: (err) => log.warn({ err }, "deliveries could not be read; they are retried"),
    });
    this.deliveries = new Deliveries(store, nowMs, () => this.#sender.poke());
    const onMade = (): void => {
      this.events.poke();
      this.#sender.poke();
    };
    this.maker = new EventMaker({ store, nodeId, makeId, nowMs, sendsMail: options.mail !== undefined, onMade });
    const onChange = (alertId: string): void => this.evaluator.forget(alertId);
    const ofFile = options.fileAlerts ?? ((): readonly AlertRow[] => []);
    const mailGate = new MailGate(store, nowMs);
    this.#mailGate = mailGate;
    const strangers: MailGate["strangers"] = (accountId, emails) => mailGate.strangers(accountId, emails);
    this.rules = new Rules({ store, makeId, nowMs, onChange, ofFile, strangers });
    this.watch = new NodeWatch(options.sources ?? NO_SOURCES);
    this.evaluator = new Evaluator({
      store,
      watch: this.watch,
      rules: this.rules,
      maker: this.maker,
      nodeId,
      nowMs,
      everyMs: options.everyMs ?? EVERY_MS,
      onSweep: () => this.#sealAnew(),
      onError: (err) => log.warn({ err }, "alerts could not be evaluated; they are retried"),
    });
  }

  /** A proof of the ledger ended. Never rejects: the proof counts, whoever hears of it. */
  async proved({ holds, problems }: { readonly holds: boolean; readonly problems: readonly string[] }): Promise<void> {
    const { store, log, onProved } = this.options;
    onProved?.(holds);
    const values = { problems: holds ? 0 : Math.max(1, problems.length) };
    try {
      await store.alertSteps([{ statement: "noteProof", values }]);
    } catch (err) {
      log.warn({ err }, "the result of a ledger verification could not be passed to alerts");
    }
  }

  start(): void {
    this.evaluator.start();
    this.#sender.start();
    void this.#tellUnheard();
  }

  /** Alerts of the file that nobody would hear of are named at the start. Never rejects. */
  async #tellUnheard(): Promise<void> {
    const { fileAlerts, log } = this.options;
    try {
      for (const alert of fileAlerts?.() ?? [])
        if ((await this.maker.targets(alert)).length === 0) log.warn({ alert: alert.id }, UNHEARD);
    } catch (err) {
      log.warn({ err }, "could not check whether the file's alerts have a recipient");
    }
  }

  async close(): Promise<void> {
    this.events.close();
    await this.evaluator.close();
    await this.#sender.close();
    await this.#mail?.close();
  }

  async #sealAnew(): Promise<void> {
    const webhooks = await this.webhooks.sealAnew();
    if (webhooks > 0) this.options.log.info({ webhooks }, "secrets of webhooks are encrypted with the new root secret");
  }

  async #sendMail(address: string, accountId: string, event: EventRow): Promise<Posted | "gone"> {
    if (this.#mail === undefined) return NO_MAIL;
    return (await this.#mailGate.problemOf(accountId, address)) ?? this.#mail.send(address, event);
  }

  async #send({ targetId, accountId }: DeliveryRow, event: EventRow): Promise<Posted | "gone"> {
    if (targetId.startsWith(MAIL_TARGET)) return this.#sendMail(targetId.slice(MAIL_TARGET.length), accountId, event);
    const webhook = await this.webhooks.find(targetId);
    if (webhook === undefined) return "gone";
    const secrets = this.webhooks.secretsOf(webhook);
    if (secrets.length === 0) return UNREADABLE;
    const body = webhookBody(event);
    const headers = {
      "content-type": "application/json; charset=utf-8",
      "user-agent": this.options.userAgent,
      ...signedHeaders(event.id, this.options.nowMs(), body, secrets),
    };
    const { resolve = resolveName, attemptMs } = this.options;
    const bounds = attemptMs === undefined ? {} : { totalMs: attemptMs };
    return post(new URL(webhook.settings.url), headers, body, { networks: this.#networks, resolve, ...bounds });
  }
}
