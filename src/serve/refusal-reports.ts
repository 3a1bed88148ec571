/** What a front end in a process of its own refused by itself, told to its core, which keeps records of requests. */
import { Cancellation } from "../base/cancellation.js";
import type { CallMetadata, Channel } from "../api/channel.js";
import { ErrorReason, FrontServiceService, type ReportedRefusal } from "../api/index.js";
import { RECORD_HEADERS } from "../api/request-headers.js";
import type { FrontRefusal } from "../http/front.js";
import { CLIENT_ADDRESS_HEADER, FRONT_HEADER } from "../rpc/call/client-address.js";

const FLUSH_MS = 500;
const WAITING_MAX = 2_000;
const AT_ONCE_MAX = 100;
const SEND_MS = 5_000;
/** What records say of a request that was refused. */
const TOLD = new Set([CLIENT_ADDRESS_HEADER, ...RECORD_HEADERS.map(([, name]) => name)]);
/** Whose request it was, where it was let in. */
const CREDENTIALS = new Set(["authorization", "x-api-key"]);

export interface RefusalReportsOptions {
  readonly channel: Pick<Channel, "unary">;
  readonly frontToken: string;
  /** Called with how many refusals leave no record: too many came, or the core could not be told. */
  readonly onLost: (count: number) => void;
}

export class RefusalReports {
  #waiting: ReportedRefusal[] = [];
  #sending: Promise<void> | undefined;
  readonly #timer: NodeJS.Timeout;

  constructor(private readonly options: RefusalReportsOptions) {
    this.#timer = setInterval(() => void this.flush(), FLUSH_MS).unref();
  }

  /** Never waits. */
  add(refusal: FrontRefusal): void {
    if (this.#waiting.length >= WAITING_MAX) return this.options.onLost(1);
    this.#waiting.push(reported(refusal));
  }

  /** Tells of all that waits. Never rejects. */
  flush(): Promise<void> {
    this.#sending ??= this.#send().finally(() => (this.#sending = undefined));
    return this.#sending;
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    // What came while others were on their way goes after them.
    await this.flush();
    await this.flush();
  }

  async #send(): Promise<void> {
    const { channel, frontToken, onLost } = this.options;
    while (this.#waiting.length > 0) {
      const refusals = this.#waiting.splice(0, AT_ONCE_MAX);
      const metadata = { [FRONT_HEADER]: frontToken };
      const options = { metadata, signal: new Cancellation(), timeoutMs: SEND_MS };
      try {
        await channel.unary(FrontServiceService.reportRefusals, { refusals }, options);
      } catch {
        onLost(refusals.length);
      }
    }
  }
}

function reported({ error, requestId, route, method = "", metadata, admission }: FrontRefusal): ReportedRefusal {
  const told: Record<string, string> = {};
  copy(TOLD, metadata, told);
  if (admission !== undefined) copy(CREDENTIALS, metadata, told);
  const reason = ErrorReason[error.reason];
  return { requestId, route, method, reason, facts: { ...error.metadata }, metadata: told };
}

function copy(names: ReadonlySet<string>, from: CallMetadata, to: Record<string, string>): void {
  for (const name of names) {
    const value = from[name];
    if (value !== undefined) to[name] = value;
  }
}
