/** References to secrets in objects of the database: `env:NAME` and `file:/path`. */
import { isAbsolute, normalize } from "node:path";
import { isOwnVariable } from "./secret-sources.js";

export interface SecretReference {
  readonly source: "env" | "file";
  /** The variable's name, or an absolute path. */
  readonly place: string;
}

const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Undefined where a value is a secret itself. */
export function parseReference(value: string): SecretReference | undefined {
  if (value.startsWith("env:")) return { source: "env", place: value.slice("env:".length) };
  if (value.startsWith("file:")) return { source: "file", place: value.slice("file:".length) };
  return undefined;
}

/** Why a reference may not be used, as the end of a sentence. Undefined: it may. `sources`: what the start allows. */
export function referenceProblem({ source, place }: SecretReference, sources: readonly string[]): string | undefined {
  if (source === "env" && !VARIABLE.test(place)) return "must name a variable, such as env:OPENAI_API_KEY";
  // Without steps that lead out of a directory that is allowed.
  if (source === "file" && (!isAbsolute(place) || normalize(place) !== place))
    return "must name a file by its absolute path, such as file:/run/secrets/openai";
  if (source === "env" && isOwnVariable(place)) return `must not take ${place}: it is the gateway's own`;
  if (sources.some((allowed) => `${source}:${place}`.startsWith(allowed))) return undefined;
  return (
    `refers to ${source}:${place}, which TOLLGATE_SECRET_SOURCES does not allow: write the secret itself, or start the` +
    ` gateway with ${source}:${place} in TOLLGATE_SECRET_SOURCES`
  );
}
