/** The secrets that this process was given, so that none of them appears in text that leaves it. */
import type { Settings } from "../config/settings.js";
import { protectSecrets } from "../redaction.js";

const SECRET_VARIABLE = /(?:^|_)(?:KEY|SECRET|TOKEN|PASSWORD|PASS|CREDENTIALS?)(?:_|$)/;

/** Those in the environment, told by the names of their variables. */
export function protectEnvironment(environment: Readonly<Record<string, string | undefined>>): void {
  protectSecrets(Object.keys(environment).flatMap((name) => (SECRET_VARIABLE.test(name) ? environment[name] : [])));
}

/** Those of a settings file. A credential of two parts, as Amazon's, is two secrets. */
export function protectSettings({ upstreams, keys }: Settings): void {
  const credentials = upstreams.flatMap(({ apiKey }) => (apiKey === undefined ? [] : [apiKey, ...apiKey.split(":")]));
  protectSecrets([...credentials, ...keys.map((key) => key.secret)]);
}
