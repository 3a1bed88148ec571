/** What the audit log says of a settings file: which it is, and how much it has. Its own history is its owner's. */
import type { SettingsFile } from "../config/file.js";

export interface FileFacts extends Readonly<Record<string, unknown>> {
  readonly version: string;
}

export function factsOf({ version, settings }: SettingsFile): FileFacts {
  const { upstreams, models, accounts, keys, alerts, identity } = settings;
  const counts = { models: models.length, accounts: accounts.length, keys: keys.length, alerts: alerts.length };
  const issuers = identity.issuers.map(({ name }) => name);
  return { version, upstreams: upstreams.map(({ id }) => id), ...counts, ...(issuers.length === 0 ? {} : { issuers }) };
}
