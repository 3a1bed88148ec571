/** Which parameters of a request settings changed, in records and in the protocol. */

/** Names of parameters, such as temperature. */
export interface AppliedParameters {
  readonly defaulted: readonly string[];
  readonly set: readonly string[];
  /** Those that the request had. */
  readonly dropped: readonly string[];
}

/** As records keep it: a line each for what was defaulted, set and dropped. Empty: nothing was. */
export function parametersText(applied: AppliedParameters | undefined): string {
  if (applied === undefined) return "";
  const { defaulted, set, dropped } = applied;
  const isNothing = defaulted.length + set.length + dropped.length === 0;
  return isNothing ? "" : [defaulted, set, dropped].map((names) => names.join(",")).join("\n");
}

/** Undefined where nothing was changed. */
export function parametersIn(text: string): AppliedParameters | undefined {
  if (text === "") return undefined;
  const [defaulted = [], set = [], dropped = []] = text
    .split("\n")
    .map((line) => line.split(",").filter((name) => name !== ""));
  return { defaulted, set, dropped };
}
