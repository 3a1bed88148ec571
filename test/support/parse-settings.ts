/** Settings as a text says them, for whoever asks nothing else of the file. */
import { readSettingsTexts } from "../../src/config/file.js";
import type { KnownFamily } from "../../src/config/references.js";
import type { Settings } from "../../src/config/settings.js";

interface Said {
  readonly fileName?: string;
  readonly families?: readonly KnownFamily[];
}

/** Throws a ConfigError with a line for each problem. */
export function parseSettings(
  text: string,
  env: NodeJS.ProcessEnv,
  { fileName = "tollgate.yaml", families }: Said = {},
): Settings {
  return readSettingsTexts([{ name: fileName, text }], env, families).settings;
}
