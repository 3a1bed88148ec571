/** What a model is told in words where its wire, or the model, has no member for it. */

export const JSON_HINT = "Answer with a single JSON object and nothing else.";

/** `only` is the one tool that must be called; undefined where any will do. */
export function callHint(only: string | undefined): string {
  return `You must answer by calling ${only === undefined ? "one of the tools" : `the tool '${only}'`}.`;
}
