/** The blocks of settings as plain values, from a file's text or from objects: checked by one schema. */
import type { z } from "zod";
import { checkReferences, type KnownFamily, type OutsideNames } from "./references.js";
import { settingsSchema } from "./schema.js";
import type { Settings } from "./settings.js";
import type { Path, RawValue } from "./yaml-document.js";

/** What is wrong with a value, or with a name. */
export interface BlockProblem {
  readonly path: Path;
  /** What is right, as the end of a sentence. */
  readonly rule: string;
  readonly part: "key" | "value";
}

export interface CheckedBlocks {
  /** Undefined where the blocks do not have the form of settings. */
  readonly settings: Settings | undefined;
  readonly problems: readonly BlockProblem[];
}

/**
 * Reads blocks by the schema, and checks what must fit together. Where families are given, each upstream is checked
 * against its own. Never throws.
 */
export function checkBlocks(
  root: RawValue,
  families: readonly KnownFamily[] | undefined,
  outside?: OutsideNames,
): CheckedBlocks {
  const result = settingsSchema.safeParse(root);
  const problems = (result.error?.issues ?? []).flatMap(problemsOf);
  const refuse = (path: Path, rule: string): void => void problems.push({ path, rule, part: "value" });
  checkReferences(root, families, refuse, outside);
  return { settings: result.data, problems };
}

function problemsOf(issue: z.core.$ZodIssue): BlockProblem[] {
  const { path } = issue;
  if (issue.code === "invalid_key")
    return [{ path, rule: issue.issues[0]?.message ?? "has a wrong name", part: "key" }];
  if (issue.code !== "unrecognized_keys") return [{ path, rule: issue.message, part: "value" }];
  const rules = issue.message.split("\n");
  return issue.keys.map((key, index) => ({ path: [...path, key], rule: rules[index] ?? "", part: "key" }));
}
