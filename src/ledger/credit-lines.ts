/** Renews credit lines without a request: when an operator changes one, and when a period begins. */
import type { Store } from "../store/store.js";
import type { LedgerWriter } from "./writer.js";

const PAGE_SIZE = 500;

export class CreditLines {
  constructor(
    private readonly writer: LedgerWriter,
    private readonly store: Pick<Store, "accounts">,
    private readonly nowMs: () => number,
  ) {}

  /** Grants the account its line, if a new period began or the line was changed. Rejects if the database is away. */
  async renew(accountId: string): Promise<void> {
    await this.writer.submit({ kind: "renew", accountId, nowMs: this.nowMs() });
  }

  /** Does so for all accounts that a line granted money to. Rejects if the database is away. */
  async renewAll(): Promise<void> {
    let token = "";
    do {
      const page = await this.store.accounts.list({ size: PAGE_SIZE, token }, { order: "id", hasLine: true });
      await Promise.all(page.rows.map(({ id }) => this.renew(id)));
      token = page.nextPageToken;
    } while (token !== "");
  }
}
