/** The objects of a settings file. */
import type { FileBlock } from "../config/file.js";
import { blockOf } from "../config/yaml-document.js";
import { type Block, BLOCK_NAMES, idOf, OBJECT_KINDS, type ObjectName, secretsOf } from "./object.js";

export interface FileObject extends ObjectName {
  /** Its block, without its secrets. */
  readonly block: Block;
  /** The secret fields that have a value. */
  readonly secrets: readonly string[];
  /** Where it stands, such as `tollgate.yaml:12`. */
  readonly place: string;
}

/** By `idOf`. */
export type FileObjects = ReadonlyMap<string, FileObject>;

export const NO_FILE_OBJECTS: FileObjects = new Map();

export function fileObjects(blocks: readonly FileBlock[]): FileObjects {
  const objects = blocks.flatMap(({ block: blockName, name, value, place }): FileObject[] => {
    const kind = OBJECT_KINDS.find((one) => BLOCK_NAMES[one] === blockName);
    if (kind === undefined) return [];
    const whole = blockOf(value);
    const secrets = secretsOf(kind).filter((field) => whole[field] !== undefined);
    const shown = Object.entries(whole).filter(([field]) => !secrets.includes(field));
    return [{ kind, name, block: Object.fromEntries(shown), secrets, place }];
  });
  return new Map(objects.map((object) => [idOf(object), object]));
}
