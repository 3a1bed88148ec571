/** What is done with the text of a settings file beside the event loop: no text of a client may hold it. */
import type { SettingsProblem, SoldModel } from "../api/index.js";
import { ConfigError } from "../config/config-error.js";
import { type LateProblem, readSettingsText } from "../config/file.js";
import { hideSecrets, showSecrets } from "../config/kept-secrets.js";
import type { Settings } from "../config/settings.js";
import { takenRefusal } from "../config/taken.js";
import { families } from "../families/index.js";
import { checkSettingsText } from "./settings-check.js";

/** A text, and what it is read with. */
interface Source {
  readonly text: string;
  readonly env: NodeJS.ProcessEnv;
  /** What the lines of problems name. */
  readonly fileName: string;
}

/** A text that a person made of the file as it is shown. */
export interface Edit extends Source {
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
  | { readonly kind: "read"; readonly settings: Settings }
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
        const { text, env, fileName } = question.source;
        const file = readSettingsText(text, env, families, fileName);
        if (question.late.length > 0) throw await file.refusal(question.late);
        return { kind: "read", settings: file.settings };
      }
    }
  } catch (error) {
    if (error instanceof ConfigError) return { kind: "refused", problems: error.problems };
    throw error;
  }
}

const LINE = /^.*?:(\d+):(\d+) ([^]*)$/;

async function checkEdit({ text: content, before, env, sources, fileName }: Edit): Promise<CheckedEdit> {
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
    const { sold } = await checkSettingsText(whole, env, fileName);
    return { problems: [], models: sold, whole };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return wrong(
      error.problems.map((told) => {
        const [, line = "0", column = "0", problem = told] = LINE.exec(told) ?? [];
        if (line === "0") return { line: 0, column: 0, problem };
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
