/** What is done with the text of a settings file beside the event loop: no text of a client may hold it. */
import type { SettingsProblem, SoldModel } from "../api/index.js";
import { ConfigError } from "../config/config-error.js";
import { type LateProblem, readSettingsTexts, type SettingsFile } from "../config/file.js";
import type { SettingsText } from "../config/included.js";
import { hideSecrets, showSecrets } from "../config/kept-secrets.js";
import { takenRefusal } from "../config/taken.js";
import { families } from "../families/index.js";
import { checkSettingsTexts } from "./settings-check.js";

/** The texts of a file and of those that it includes, and what they are read with. */
interface Source {
  readonly texts: readonly SettingsText[];
  readonly env: NodeJS.ProcessEnv;
}

/** A text that a person made of the file as it is shown. */
export interface Edit {
  readonly text: SettingsText;
  readonly included: readonly SettingsText[];
  readonly env: NodeJS.ProcessEnv;
  readonly before: string;
  /** Beginnings of references that it may newly take. */
  readonly sources: readonly string[];
}

export type SettingsQuestion =
  | { readonly kind: "hide"; readonly text: string }
  | { readonly kind: "check"; readonly edit: Edit }
  /** `late` is what turned out to be wrong after it was read: then it is refused, with the places of that. */
  | { readonly kind: "read"; readonly source: Source; readonly late: readonly LateProblem[] };

export interface CheckedEdit {
  /** By the places of the text that the person has. */
  readonly problems: readonly SettingsProblem[];
  /** What its models would be sold at; none where anything is wrong. */
  readonly models: readonly SoldModel[];
  /** With its secrets. */
  readonly whole: string;
}

export type SettingsAnswer =
  | { readonly kind: "hidden"; readonly text: string }
  | { readonly kind: "checked"; readonly edit: CheckedEdit }
  | { readonly kind: "read"; readonly file: Pick<SettingsFile, "settings" | "blocks"> }
  | { readonly kind: "refused"; readonly problems: readonly string[] };

/** Never rejects for what is wrong with a text. */
export async function answerSettings(question: SettingsQuestion): Promise<SettingsAnswer> {
  try {
    switch (question.kind) {
      case "hide":
        return { kind: "hidden", text: hideSecrets(question.text).text };
      case "check":
        return { kind: "checked", edit: await checkEdit(question.edit) };
      case "read": {
        const { texts, env } = question.source;
        const file = readSettingsTexts(texts, env, families);
        if (question.late.length > 0) throw await file.refusal(question.late);
        return { kind: "read", file: { settings: file.settings, blocks: file.blocks } };
      }
    }
  } catch (error) {
    if (error instanceof ConfigError) return { kind: "refused", problems: error.problems };
    throw error;
  }
}

const LINE = /^(.*?):(\d+):(\d+) ([^]*)$/;

async function checkEdit({ text: main, included, before, env, sources }: Edit): Promise<CheckedEdit> {
  const { name: fileName, text: content } = main;
  const { secrets } = hideSecrets(before);
  const { text: whole, kept, unknown, hiddenOffset } = showSecrets(content, secrets);
  const wrong = (problems: readonly SettingsProblem[]): CheckedEdit => ({ problems, models: [], whole });
  if (unknown.length > 0)
    return wrong(
      unknown.map(({ offset, words }) =>
        problemAt(content, offset, `${words} stands for no secret of the file: write the secret itself`),
      ),
    );
  const wholeBefore = { text: before, kept: new Map(secrets.map((secret) => [secret.start, secret])) };
  try {
    const refused = takenRefusal({ text: whole, kept }, wholeBefore, { families, sources }, fileName);
    if (refused !== undefined) throw refused;
    const { sold } = await checkSettingsTexts([{ name: fileName, text: whole }, ...included], env);
    return { problems: [], models: sold, whole };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return wrong(
      error.problems.map((told) => {
        const [, name, line = "0", column = "0", problem = told] = LINE.exec(told) ?? [];
        // A place in another file is none of this text.
        if (name !== fileName) return { line: 0, column: 0, problem: told };
        return problemAt(content, hiddenOffset(offsetOf(whole, Number(line), Number(column))), problem);
      }),
    );
  }
}

function problemAt(text: string, offset: number, problem: string): SettingsProblem {
  const before = text.slice(0, offset).split("\n");
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1, problem };
}

function offsetOf(text: string, line: number, column: number): number {
  const before = text.split("\n").slice(0, line - 1);
  return before.reduce((sum, { length }) => sum + length + 1, 0) + column - 1;
}
