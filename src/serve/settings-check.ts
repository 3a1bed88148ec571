/** Whether a settings file would come into force, found out without a database and without asking anybody. */
import { readSettingsFile, readSettingsTexts, type SettingsFile } from "../config/file.js";
import type { SettingsText } from "../config/included.js";
import type { Settings } from "../config/settings.js";
import { connectUpstreams, loadTable, type UnservedModel } from "../routing/load.js";
import { families } from "../families/index.js";
import { alertProblems } from "./file-alerts.js";
import { createLoadOptions } from "./load-options.js";
import { type SoldModel, soldModels } from "./sold-models.js";

/** What an upstream of a settings file may say as its family. */
export const FAMILY_NAMES: readonly string[] = families.map(({ name }) => name);

/** What a start would take. */
export interface CheckedSettings {
  readonly settings: Settings;
  /** The models of the settings, in their order. */
  readonly sold: readonly SoldModel[];
}

/** Reads a file as a start would. Throws a ConfigError with a line for each problem. */
export async function checkSettingsFile(
  path: string,
  env: NodeJS.ProcessEnv,
  fileName: string,
): Promise<CheckedSettings> {
  return checkedSettings(readSettingsFile(path, env, families, fileName), env);
}

/** The same of texts, of which the first may stand in no file yet. */
export async function checkSettingsTexts(
  texts: readonly SettingsText[],
  env: NodeJS.ProcessEnv,
): Promise<CheckedSettings> {
  return checkedSettings(readSettingsTexts(texts, env, families), env);
}

async function checkedSettings(file: SettingsFile, env: NodeJS.ProcessEnv): Promise<CheckedSettings> {
  const { unserved, sold } = await modelsOf(file.settings, env);
  const problems = [...unserved.map(problemOf), ...alertProblems(file.settings)];
  if (problems.length > 0) throw await file.refusal(problems);
  return { settings: file.settings, sold };
}

/** The models of a file that a start would serve, and those it would refuse. Throws a ConfigError for anything else. */
export async function modelsOfFile(path: string, env: NodeJS.ProcessEnv, fileName: string): Promise<CheckedModels> {
  return modelsOf(readSettingsFile(path, env, families, fileName).settings, env);
}

interface CheckedModels {
  readonly unserved: readonly UnservedModel[];
  readonly sold: readonly SoldModel[];
}

async function modelsOf(settings: Settings, env: NodeJS.ProcessEnv): Promise<CheckedModels> {
  const options = createLoadOptions(env, Date.now, () => undefined);
  const { upstreams } = connectUpstreams(settings, new Map(), options);
  const { table, unserved } = await loadTable(settings, upstreams, new Map(), options);
  await Promise.all([...upstreams.values()].map((served) => served.upstream.close()));
  return { unserved, sold: soldModels(settings, table) };
}

/** Where a model that cannot be served stands in the file. */
export function problemOf({ id, rule }: UnservedModel): { path: string[]; rule: string } {
  return { path: ["models", id], rule };
}
