/** The keys of random lives, some of which others made: what they hold and spend counts for their makers as well. */
import type { Store } from "../../src/store/store.js";
import { TEST_EVENT } from "../support/acts.js";

const MAKERS: Readonly<Record<string, readonly string[]>> = {
  key_2: ["key_1"],
  key_3: ["key_2", "key_1"],
  key_4: ["key_1"],
};

/** The key that made a key, and the one that made that. Where keys are one account's, it stands before a slash. */
export function makersOf(keyId: string): readonly string[] {
  const [name = "", account] = keyId.split("/").toReversed();
  const makers = MAKERS[name] ?? [];
  return account === undefined ? makers : makers.map((maker) => `${account}/${maker}`);
}

/** Each key that another made, with that one. */
export const MADE_KEYS: readonly (readonly [id: string, makerId: string])[] = Object.entries(MAKERS).map(
  ([id, [makerId = ""]]) => [id, makerId],
);

/** Where a driver's counters come from, for a book without one. */
export const KEY_LINE = { makersOf, load: (): void => undefined };

/** Puts the keys that others made into the database, which knows makers from there. */
export async function makeKeyLine(store: Store): Promise<void> {
  for (const [id, [makerId = null]] of Object.entries(MAKERS)) {
    await store.keys.create(
      {
        id,
        accountId: "acme",
        makerId,
        settings: new Uint8Array(),
        digest: Buffer.from(id),
        previousDigest: null,
        previousUntilMs: null,
        hint: id,
        createTimeMs: 0,
        revokeTimeMs: null,
        revision: 1,
      },
      TEST_EVENT,
    );
  }
}
