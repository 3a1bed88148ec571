/** The facts of the wire: its name and headers, and the spelling of its fields. */
import type { NameRule } from "../request/fitted-names.js";

export const WIRE_NAME = "gemini";

/** What other wires write in the body and this one in the path; a format tells it in headers of the source. */
export const PATH_MODEL_HEADER = "x-tollgate-path-model";
/** `1` where the path asks for a stream. */
export const PATH_STREAM_HEADER = "x-tollgate-path-stream";

/** A name in the second spelling that Google's servers take: `max_output_tokens` is `maxOutputTokens`. */
const SNAKE_CASE = /^[a-z][a-z0-9]*(?:_[a-z0-9]+)+$/;

/** The field's one name. What is no name in either spelling stays. */
export function fieldName(key: string): string {
  return SNAKE_CASE.test(key) ? key.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase()) : key;
}

/** Names of tools that the wire takes. */
export const NAMES: NameRule = { legal: /^[A-Za-z_][A-Za-z0-9_.:-]{0,63}$/, charactersMax: 64 };
