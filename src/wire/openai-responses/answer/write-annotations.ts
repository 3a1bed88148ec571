/** Citations of a text, in the form that this wire has them in. */
import { type JsonObject, listOf, objectOf, parsed } from "../../json/value.js";

const KNOWN: ReadonlySet<unknown> = new Set(["url_citation", "file_citation", "container_file_citation", "file_path"]);

/** Each citation as JSON. Those of wires whose citations say something else are left out. */
export function encodeAnnotations(citationsJson: string | undefined): string[] {
  if (citationsJson === undefined) return [];
  return listOf(parsed(citationsJson)).flatMap((item) => {
    const citation = objectOf(item);
    const flat = citation === undefined ? undefined : flattened(citation);
    return flat === undefined ? [] : [JSON.stringify(flat)];
  });
}

/** Chat completions have a citation's members one level deeper. */
function flattened(citation: JsonObject): JsonObject | undefined {
  const { type } = citation;
  if (!KNOWN.has(type)) return undefined;
  const inner = objectOf(citation[String(type)]);
  return inner === undefined ? citation : { type, ...inner };
}
