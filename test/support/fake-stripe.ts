/**
 * Stripe as its documentation describes it, as far as the gateway asks: Checkout Sessions, refunds, disputes, a page on
 * which a payer pays, and events that are signed as Stripe signs them. A server of its own on loopback.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Stripe } from "stripe";

export const SECRET_KEY = "sk_test_fake0123456789";
export const WEBHOOK_SECRET = "whsec_fake0123456789";

interface Session {
  readonly id: string;
  readonly object: "checkout.session";
  readonly mode: string;
  readonly amount_total: number;
  readonly client_reference_id: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly created: number;
  readonly success_url: string;
  readonly cancel_url: string;
  readonly url: string;
  currency: string;
  payment_intent: string | null;
  payment_status: "unpaid" | "paid";
  status: "open" | "complete" | "expired";
}

interface Refund {
  readonly id: string;
  readonly object: "refund";
  readonly amount: number;
  readonly currency: string;
  readonly payment_intent: string;
  readonly created: number;
  status: string;
}

interface Dispute {
  readonly id: string;
  readonly object: "dispute";
  readonly amount: number;
  readonly currency: string;
  readonly payment_intent: string;
  readonly created: number;
  status: string;
}

export interface SignedEvent {
  readonly id: string;
  readonly type: string;
  readonly payload: string;
  readonly signature: string;
}

export class FakeStripe {
  readonly sessions = new Map<string, Session>();
  readonly refunds: Refund[] = [];
  readonly disputes: Dispute[] = [];
  /** What was asked, such as `POST /v1/checkout/sessions`. */
  readonly asked: string[] = [];
  /** So many answers from now on are failures. */
  failures = 0;
  /** Hears of what a payer did on the page. */
  onEvent: (event: SignedEvent) => Promise<void> = () => Promise.resolve();
  #count = 0;
  readonly #sessionOfKey = new Map<string, Session>();

  private constructor(
    private readonly server: Server,
    private readonly nowMs: () => number,
  ) {
    server.on("request", (request, response) => void this.#serve(request, response));
  }

  static async start(nowMs: () => number = Date.now): Promise<FakeStripe> {
    const server = createServer();
    const fake = new FakeStripe(server, nowMs);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return fake;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** The block of a settings file. */
  settings(consoleUrl = "http://127.0.0.1/console"): string {
    const said = {
      secret_key: SECRET_KEY,
      webhook_secret: WEBHOOK_SECRET,
      console_url: consoleUrl,
      api_base: this.url,
    };
    return `payments: { stripe: ${JSON.stringify(said)} }\n`;
  }

  close(): Promise<void> {
    this.server.closeAllConnections();
    return new Promise((resolve) => void this.server.close(() => resolve()));
  }

  /** A payer pays by card. */
  pay(sessionId: string): SignedEvent {
    this.#complete(sessionId).payment_status = "paid";
    return this.event("checkout.session.completed", this.session(sessionId));
  }

  /** A payer chose a way that takes days. */
  promise(sessionId: string): SignedEvent {
    this.#complete(sessionId);
    return this.event("checkout.session.completed", this.session(sessionId));
  }

  arrive(sessionId: string): SignedEvent {
    this.session(sessionId).payment_status = "paid";
    return this.event("checkout.session.async_payment_succeeded", this.session(sessionId));
  }

  fail(sessionId: string): SignedEvent {
    return this.event("checkout.session.async_payment_failed", this.session(sessionId));
  }

  expire(sessionId: string): SignedEvent {
    this.session(sessionId).status = "expired";
    return this.event("checkout.session.expired", this.session(sessionId));
  }

  refund(sessionId: string, cents: number): SignedEvent {
    const { currency } = this.session(sessionId);
    const said = { currency, payment_intent: this.#intentOf(sessionId), created: this.#nowS(), status: "succeeded" };
    this.refunds.push({ id: this.#id("re"), object: "refund", amount: cents, ...said });
    return this.event("charge.refunded", this.#chargeOf(sessionId));
  }

  /** The bank does not take the last refund of a payment. */
  failRefund(sessionId: string): SignedEvent {
    const intent = this.#intentOf(sessionId);
    const refund = this.refunds.findLast((one) => one.payment_intent === intent && one.status === "succeeded");
    if (refund === undefined) throw new Error("there is no refund to fail");
    refund.status = "failed";
    return this.event("refund.failed", refund);
  }

  /** The bank takes money back: what Stripe tells of it. */
  dispute(sessionId: string, cents: number): { readonly id: string; readonly events: SignedEvent[] } {
    const said = { currency: "usd", payment_intent: this.#intentOf(sessionId), created: this.#nowS() };
    const dispute = {
      id: this.#id("dp"),
      object: "dispute",
      amount: cents,
      ...said,
      status: "needs_response",
    } as const;
    this.disputes.push({ ...dispute });
    const kinds = ["charge.dispute.created", "charge.dispute.funds_withdrawn"];
    return { id: dispute.id, events: kinds.map((kind) => this.event(kind, dispute)) };
  }

  closeDispute(id: string, status: "won" | "lost"): SignedEvent[] {
    const dispute = this.disputes.find((one) => one.id === id);
    if (dispute === undefined) throw new Error("there is no such dispute");
    dispute.status = status;
    const closed = this.event("charge.dispute.closed", dispute);
    return status === "lost" ? [closed] : [closed, this.event("charge.dispute.funds_reinstated", dispute)];
  }

  /** An event with what it is about as it stands now. */
  event(type: string, object: object): SignedEvent {
    const id = this.#id("evt");
    const said = { id, object: "event", api_version: "2026-10-28.endive", created: this.#nowS(), type };
    return { id, type, ...this.signed(JSON.stringify({ ...said, livemode: false, data: { object } })) };
  }

  signed(payload: string, secret = WEBHOOK_SECRET, timestamp = this.#nowS()): Omit<SignedEvent, "id" | "type"> {
    return { payload, signature: Stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp }) };
  }

  session(id: string): Session {
    const session = this.sessions.get(id);
    if (session === undefined) throw new Error(`there is no session ${id}`);
    return session;
  }

  #complete(sessionId: string): Session {
    const session = this.session(sessionId);
    session.status = "complete";
    session.payment_intent ??= this.#id("pi");
    return session;
  }

  #intentOf(sessionId: string): string {
    const { payment_intent: intent } = this.session(sessionId);
    if (intent === null) throw new Error("nothing was paid");
    return intent;
  }

  #chargeOf(sessionId: string): object {
    const intent = this.#intentOf(sessionId);
    const { amount_total: amount, currency } = this.session(sessionId);
    const refunds = this.refunds.filter((one) => one.payment_intent === intent && one.status === "succeeded");
    const refunded = refunds.reduce((sum, one) => sum + one.amount, 0);
    const said = { amount, currency, payment_intent: intent, amount_refunded: refunded, refunded: refunded >= amount };
    return { id: `ch_${intent}`, object: "charge", ...said };
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? "", this.url);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const form = new URLSearchParams(Buffer.concat(chunks).toString());
    if (pathname.startsWith("/pay/")) return this.#page(pathname.slice(5), searchParams, response);
    this.asked.push(`${request.method} ${pathname}`);
    const answer = (status: number, body: object): void => {
      response.writeHead(status, { "content-type": "application/json", "request-id": this.#id("req") });
      response.end(JSON.stringify(body));
    };
    if (request.headers.authorization !== `Bearer ${SECRET_KEY}`)
      return answer(401, { error: { type: "invalid_request_error", message: "Invalid API Key provided" } });
    if (this.failures > 0) {
      this.failures -= 1;
      return answer(500, { error: { type: "api_error", message: "an error occurred" } });
    }
    if (request.method === "POST") return answer(200, this.#create(form, String(request.headers["idempotency-key"])));
    answer(200, this.#list(pathname, searchParams));
  }

  #create(form: URLSearchParams, key: string): Session {
    const known = this.#sessionOfKey.get(key);
    if (known !== undefined) return known;
    const id = this.#id("cs_test");
    const metadata = Object.fromEntries(
      [...form].flatMap(([name, value]) => {
        const [, field] = /^metadata\[(\w+)\]$/.exec(name) ?? [];
        return field === undefined ? [] : [[field, value]];
      }),
    );
    const session: Session = {
      id,
      object: "checkout.session",
      mode: form.get("mode") ?? "",
      amount_total: Number(form.get("line_items[0][price_data][unit_amount]")),
      currency: form.get("line_items[0][price_data][currency]") ?? "",
      client_reference_id: form.get("client_reference_id"),
      metadata,
      created: this.#nowS(),
      success_url: form.get("success_url") ?? "",
      cancel_url: form.get("cancel_url") ?? "",
      url: `${this.url}/pay/${id}`,
      payment_intent: null,
      payment_status: "unpaid",
      status: "open",
    };
    this.sessions.set(id, session);
    this.#sessionOfKey.set(key, session);
    return session;
  }

  #list(path: string, query: URLSearchParams): object {
    const all: readonly { readonly id: string; readonly created: number; readonly payment_intent: string | null }[] =
      path === "/v1/checkout/sessions"
        ? [...this.sessions.values()].filter(({ status }) => status === (query.get("status") ?? status))
        : path === "/v1/refunds"
          ? this.refunds
          : this.disputes;
    const intent = query.get("payment_intent");
    const since = Number(query.get("created[gte]") ?? 0);
    const found = all
      .filter((one) => one.created >= since && (intent === null || one.payment_intent === intent))
      .toReversed();
    const start = found.findIndex(({ id }) => id === query.get("starting_after")) + 1;
    const limit = Number(query.get("limit") ?? 10);
    const data = found.slice(start, start + limit);
    return { object: "list", url: path, data, has_more: start + limit < found.length };
  }

  /** What a payer sees. A click pays, or goes back. */
  async #page(id: string, query: URLSearchParams, response: ServerResponse): Promise<void> {
    const { success_url: success, cancel_url: cancelled } = this.session(id);
    if (query.get("do") === "pay") {
      await this.onEvent(this.pay(id));
      response.writeHead(303, { location: success }).end();
      return;
    }
    const back = cancelled.replaceAll("&", "&amp;");
    const page = `<title>Pay</title><a href="/pay/${id}?do=pay">Pay</a> <a href="${back}">Back</a>`;
    response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(page);
  }

  #id(prefix: string): string {
    return `${prefix}_${(this.#count += 1).toString().padStart(8, "0")}`;
  }

  #nowS(): number {
    return Math.floor(this.nowMs() / 1_000);
  }
}
