/** The keys of somebody who left an account: nobody may use them since, and now their own rows say so too. */
import type { Act } from "../../audit/act.js";
import type { Keys } from "../../keys/keys.js";

const PAGE_ROWS = 500;

/** Revokes the keys that the person made, and those that these made, each with its own record. */
export async function revokeKeysOf(
  userId: string,
  accountId: string,
  keys: Pick<Keys, "list" | "revoke">,
  act: Act,
): Promise<void> {
  const makers = new Map<string, string>();
  const alive = new Set<string>();
  const ended = new Set<string>();
  for (let token = ""; ;) {
    const page = await keys.list({ accountId }, { size: PAGE_ROWS, token });
    for (const { id, makerId, makerUserId, revokeTime } of page.keys) {
      makers.set(id, makerId);
      if (revokeTime === undefined) alive.add(id);
      if (makerUserId === userId) ended.add(id);
    }
    token = page.nextPageToken;
    if (token === "") break;
  }
  // A list shows the newest first, and a key is newer than the one that made it.
  for (const [id, makerId] of [...makers].toReversed()) if (ended.has(makerId)) ended.add(id);
  for (const id of ended) if (alive.has(id)) await keys.revoke(id, act);
}
