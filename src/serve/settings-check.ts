/** Whether a settings file would come into force, found out without a database and without asking anybody. */
import { readSettingsFile, readSettingsText, type SettingsFile } from "../config/file.js";
import type { Settings } from "../config/settings.js";
import { connectUpstreams, loadTable, type UnservedModel } from "../routing/load.js";
import { families } from "../families/index.js";
import { alertProblems } from "./file-alerts.js";
import { createLoadOptions } from "./load-options.js";

/** What an upstream of a settings file may say as its family. */
export const FAMILY_NAMES: readonly string[] = families.map(({ name }) => name);

/** The settings of a file that a start would take. Throws a ConfigError with a line for each problem. */
export async function checkSettingsFile(path: string, env: NodeJS.ProcessEnv, fileName: string): Promise<Settings> {
  return checkedSettings(readSettingsFile(path, env, families, fileName), env);
}

/** The same of a text that stands in no file yet. */
export async function checkSettingsText(text: string, env: NodeJS.ProcessEnv, fileName: string): Promise<Settings> {
  return checkedSettings(readSettingsText(text, env, families, fileName), env);
}

async function checkedSettings(file: SettingsFile, env: NodeJS.ProcessEnv): Promise<Settings> {
  const unserved = await unservedOf(file.settings, env);
  const problems = [...unserved.map(problemOf), ...alertProblems(file.settings)];
  if (problems.length > 0) throw file.refusal(problems);
  return file.settings;
}

/** The models of a file that a start would refuse to serve. Throws a ConfigError where anything else is wrong. */
export async function unservedModels(
  path: string,
  env: NodeJS.ProcessEnv,
  fileName: string,
): Promise<readonly UnservedModel[]> {
  return unservedOf(readSettingsFile(path, env, families, fileName).settings, env);
}

async function unservedOf(settings: Settings, env: NodeJS.ProcessEnv): Promise<readonly UnservedModel[]> {
  const options = createLoadOptions(env, Date.now, () => undefined);
  const upstreams = connectUpstreams(settings, new Map(), options);
  const { unserved } = await loadTable(settings, upstreams, new Map(), options);
  await Promise.all([...upstreams.values()].map((served) => served.upstream.close()));
  return unserved;
}

/** Where a model that cannot be served stands in the file. */
export function problemOf({ id, rule }: UnservedModel): { path: string[]; rule: string } {
  return { path: ["models", id], rule };
}
