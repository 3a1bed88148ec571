/** Which variables and files settings may refer to that come over the API. */

export const SOURCES_RULE =
  "must be prefixes of references, separated by commas, such as env:OPENAI_,file:/run/secrets/";

/** The gateway's own variables hold what no upstream may be sent, whatever is allowed. */
export function isOwnVariable(name: string): boolean {
  return name.startsWith("TOLLGATE_");
}

/** Undefined where it is no beginning of a reference. */
export function parseSecretSource(text: string): string | undefined {
  return /^(env:[A-Za-z_][A-Za-z0-9_]*|file:\/\S*)$/.test(text) ? text : undefined;
}

export function isAllowedVariable(name: string, sources: readonly string[]): boolean {
  return !isOwnVariable(name) && sources.some((source) => `env:${name}`.startsWith(source));
}
