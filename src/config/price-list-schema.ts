/** What settings may say of published prices: whether they are refreshed, from where, and whose signature counts. */
import { z } from "zod";
import type { PriceListSettings } from "./settings.js";
import { block, oneOf, orEmpty, reading } from "./values.js";

const KEYS_MAX = 4;
const KEY_BYTES = 32;
/** On the own machine nothing is in between. */
const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

const snapshotUrl = reading(
  "must be an https:// address, such as https://prices.example.com/snapshot.json; http:// is for localhost alone",
  (value) => {
    const url = URL.canParse(value) ? new URL(value) : undefined;
    if (url === undefined || url.username !== "" || url.password !== "" || /[#\s\\]/.test(value)) return undefined;
    const isSafe = url.protocol === "https:" || (url.protocol === "http:" && LOOPBACK.test(url.hostname));
    return isSafe ? value : undefined;
  },
);
const key = reading("must be an Ed25519 public key: 32 bytes in base64", (value) => {
  const bytes = Buffer.from(value, "base64");
  return bytes.length === KEY_BYTES && bytes.toString("base64") === value ? value : undefined;
});
const KEYS_RULE = `must be a list of at most ${KEYS_MAX} public keys`;

/** The block `prices`. */
export const prices = orEmpty(
  block({
    refresh: oneOf(["pinned", "propose", "apply"] as const)
      .prefault("pinned")
      .describe(
        "Which published prices apply. `pinned`: those of this version of the program. `propose`: an operator accepts " +
          "each change of the snapshot. `apply`: changes that the safety rules allow apply without an operator",
      ),
    url: snapshotUrl.optional().describe("The URL of the signed snapshot; required unless `refresh` is `pinned`"),
    keys: z
      .array(key, { error: () => KEYS_RULE })
      .max(KEYS_MAX, KEYS_RULE)
      .default([])
      .describe("The public keys that may sign the snapshot; required unless `refresh` is `pinned`"),
  }).superRefine(({ refresh, url, keys }, { addIssue }) => {
    if (refresh === "pinned") return;
    const refuse = (field: string) =>
      addIssue({ code: "custom", path: [field], message: `is missing: \`refresh: ${refresh}\` needs it` });
    if (url === undefined) refuse("url");
    if (keys.length === 0) refuse("keys");
  }),
) satisfies z.ZodType<PriceListSettings>;
