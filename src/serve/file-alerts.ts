/** The alerts of a settings file: as the gateway has alerts, and what is wrong with them by their kinds. */
import { checkSettings } from "../alerts/kinds.js";
import type { AlertRow } from "../alerts/rows.js";
import { FILE_PREFIX } from "../alerts/rules.js";
import type { LateProblem } from "../config/file.js";
import type { AlertSeed, Settings } from "../config/settings.js";
import { GatewayError } from "../base/errors.js";

/** How the file names what the protocol names otherwise. */
const FILE_NAMES: Readonly<Record<string, string>> = {
  amount_nanos: "amount",
  watched_account_id: "watched_account",
  key_id: "key",
  webhook_ids: "webhooks",
};

export function alertsOf({ alerts }: Pick<Settings, "alerts">): readonly AlertRow[] {
  return alerts.map(({ name, accountId, settings }) => {
    return { id: FILE_PREFIX + name, accountId, settings, createTimeMs: undefined, revision: 0 };
  });
}

/** What the kinds of a file's alerts do not allow. */
export function alertProblems({ alerts }: Pick<Settings, "alerts">): readonly LateProblem[] {
  return alerts.flatMap((seed) => problemOf(seed) ?? []);
}

function problemOf({ name, accountId, settings }: AlertSeed): LateProblem | undefined {
  try {
    checkSettings(settings, accountId);
    return undefined;
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const { param = "", problem } = error.metadata;
    const field = param.replace(/^settings\./, "");
    const rule = problem ?? "is missing: its kind needs it";
    return { path: ["alerts", name, FILE_NAMES[field] ?? field], rule };
  }
}
