/** The objects of a settings file. */
import type { FileBlock } from "../config/file.js";
import { blockOf } from "../config/yaml-document.js";
import { type Block, idOf, type ObjectName, secretsOf } from "./object.js";

export interface FileObject extends ObjectName {
  /** Its block, without its secrets. */
  readonly block: Block;
  /** Its secrets, by their fields. */
  readonly secrets: Readonly<Record<string, string>>;
  /** Where it stands, such as `tollgate.yaml:12`. */
  readonly place: string;
}

/** By `idOf`. */
export type FileObjects = ReadonlyMap<string, FileObject>;

export const NO_FILE_OBJECTS: FileObjects = new Map();

export function fileObjects(blocks: readonly FileBlock[]): FileObjects {
  const objects = blocks.map(({ kind, name, value, place }): FileObject => {
    const whole = blockOf(value);
    const fields = secretsOf(kind);
    const secrets = fields.flatMap((field) => {
      const secret = whole[field];
      return typeof secret === "string" ? [[field, secret] as const] : [];
    });
    const shown = Object.entries(whole).filter(([field]) => !fields.includes(field));
    return { kind, name, block: Object.fromEntries(shown), secrets: Object.fromEntries(secrets), place };
  });
  return new Map(objects.map((object) => [idOf(object), object]));
}
