/** Whether a settings file would come into force, found out without a database and without asking anybody. */
import { readSettingsFile } from "../config/file.js";
import type { Settings } from "../config/settings.js";
import { connectUpstreams, loadTable, type UnservedModel } from "../routing/load.js";
import { families } from "../families/index.js";
import { alertProblems } from "./file-alerts.js";
import { createLoadOptions } from "./load-options.js";

/** The settings of a file that a start would take. Throws a ConfigError with a line for each problem. */
export async function checkSettingsFile(path: string, env: NodeJS.ProcessEnv, fileName: string): Promise<Settings> {
  const file = readSettingsFile(path, env, families, fileName);
  const { settings } = file;
  const options = createLoadOptions(env, Date.now, () => undefined);
  const upstreams = connectUpstreams(settings, new Map(), options);
  const { unserved } = await loadTable(settings, upstreams, new Map(), options);
  await Promise.all([...upstreams.values()].map((served) => served.upstream.close()));
  const problems = [...unserved.map(problemOf), ...alertProblems(settings)];
  if (problems.length > 0) throw file.refusal(problems);
  return settings;
}

/** Where a model that cannot be served stands in the file. */
export function problemOf({ id, rule }: UnservedModel): { path: string[]; rule: string } {
  return { path: ["models", id], rule };
}
