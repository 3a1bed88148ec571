/** To whom mails of alerts may go, and how many: an account tells its own members, and fills nobody's mailbox. */
import type { Store } from "../store/store.js";
import type { Posted } from "./post.js";

/** Mails of one account in an hour, by this node. */
const OF_ACCOUNT_MAX = 60;
const HOUR_MS = 3_600_000;
const TOO_MANY: Posted = {
  status: 0,
  problem: `the account's alerts sent ${OF_ACCOUNT_MAX} mails within the hour`,
  answer: "",
};

export class MailGate {
  /** Mails of this hour, by account. */
  readonly #sent = new Map<string, number>();
  #hour = 0;

  constructor(
    private readonly store: Pick<Store, "alertSteps">,
    private readonly nowMs: () => number,
  ) {}

  /** Those of the addresses that are no member's of the account. An operator's own alerts may tell anybody. */
  async strangers(accountId: string, emails: readonly string[]): Promise<readonly string[]> {
    if (accountId === "" || emails.length === 0) return [];
    const found = await this.store.alertSteps(
      emails.map((email) => ({ statement: "memberEmail", values: { accountId, email: email.toLowerCase() } })),
    );
    return emails.filter((_, index) => (found[index]?.length ?? 0) === 0);
  }

  /** Undefined where the mail goes now, which counts it. `gone`: the address is no member's any more. */
  async problemOf(accountId: string, address: string): Promise<Posted | "gone" | undefined> {
    if (accountId === "") return undefined;
    if ((await this.strangers(accountId, [address])).length > 0) return "gone";
    const hour = Math.floor(this.nowMs() / HOUR_MS);
    if (hour !== this.#hour) this.#sent.clear();
    this.#hour = hour;
    const sent = this.#sent.get(accountId) ?? 0;
    if (sent >= OF_ACCOUNT_MAX) return TOO_MANY;
    this.#sent.set(accountId, sent + 1);
    return undefined;
  }
}
