/** Events by mail, over the operator's SMTP server. The package is loaded with the first of them. */
import type { Transporter } from "nodemailer";
import type { Posted } from "./post.js";
import type { EventRow } from "./rows.js";

export interface MailOptions {
  /** Such as smtps://user:password@mail.example.com:465. */
  readonly url: string;
  /** Who sends it, such as tollgate@example.com. */
  readonly from: string;
  /** Where people reach the gateway; undefined: mails have no link. */
  readonly publicUrl?: string | undefined;
}

const CONNECT_MS = 5_000;
const SOCKET_MS = 15_000;

export class Mail {
  #transport: Promise<Transporter> | undefined;

  constructor(private readonly options: MailOptions) {}

  /** Never rejects. The id is the same for each attempt, so that a server may know what it has. */
  async send(address: string, event: EventRow): Promise<Posted> {
    const { from, publicUrl } = this.options;
    try {
      this.#transport ??= this.#connect();
      const transport = await this.#transport;
      await transport.sendMail({
        from,
        to: address,
        subject: subjectOf(event),
        text: textOf(event, publicUrl),
        messageId: `<${event.id}.${Buffer.from(address).toString("hex")}@${from.split("@").at(-1) ?? "tollgate"}>`,
        headers: { "Auto-Submitted": "auto-generated" },
        disableFileAccess: true,
        disableUrlAccess: true,
      });
      return { status: 0, problem: "", answer: "" };
    } catch (error) {
      return { status: 0, problem: problemOf(error), answer: "" };
    }
  }

  async close(): Promise<void> {
    (await this.#transport?.catch(() => undefined))?.close();
  }

  async #connect(): Promise<Transporter> {
    const { createTransport } = await import("nodemailer");
    const bounds = { connectionTimeout: CONNECT_MS, greetingTimeout: CONNECT_MS, socketTimeout: SOCKET_MS };
    return createTransport({ url: this.options.url, pool: false, ...bounds });
  }
}

function subjectOf({ type, subject }: EventRow): string {
  return `Tollgate: ${type}, ${subject}`.replaceAll(/\p{Cc}/gu, " ").slice(0, 200);
}

function textOf({ message, alertName, alertId, id, createTimeMs }: EventRow, publicUrl: string | undefined): string {
  const alert = alertName === "" ? alertId : `${alertName} (${alertId})`;
  const console = publicUrl === undefined ? [] : [`Console: ${publicUrl}/console/alerts`];
  const time = new Date(createTimeMs).toISOString();
  return [message, "", `Alert: ${alert}`, `Event: ${id}`, `Time: ${time}`, ...console, ""].join("\n");
}

/** The server's status, or a code: its words may repeat what was sent. */
function problemOf(error: unknown): string {
  const status: unknown = error instanceof Error ? Reflect.get(error, "responseCode") : undefined;
  if (typeof status === "number") return `the mail server answered with ${status}`;
  const code: unknown = error instanceof Error ? Reflect.get(error, "code") : undefined;
  return typeof code === "string" ? `the mail server failed: ${code}` : "the mail server failed";
}
