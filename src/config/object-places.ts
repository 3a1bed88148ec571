/** Where each kind of settings object stands in a settings file. */
import { blockOf, type Path, type RawValue } from "./yaml-document.js";

/** Each object stands under its name, below these. */
const PLACES = {
  upstream: ["upstreams"],
  model: ["models"],
  alias: ["aliases"],
  plan: ["plans"],
  issuer: ["identity", "oidc"],
  payments: ["payments"],
  metrics: [],
  prices: [],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type ObjectKind = keyof typeof PLACES;

// Object.keys forgets the names' type; PLACES has these and no others.
export const OBJECT_KINDS = Object.keys(PLACES) as readonly ObjectKind[];

export interface ObjectBlock {
  readonly kind: ObjectKind;
  readonly name: string;
  readonly value: RawValue;
}

export function isObjectKind(text: string): text is ObjectKind {
  return Object.hasOwn(PLACES, text);
}

/** What is wrong with a name that no block of a file has. */
export function nameProblem(kind: ObjectKind, name: string): string | undefined {
  return isBelow(placeOfObject(kind, name), kind) ? undefined : `must be ${kind}: there is one object of this kind`;
}

export function placeOfObject(kind: ObjectKind, name: string): readonly string[] {
  return [...PLACES[kind], name];
}

/** The object that has a value, and the way to the value in it. Undefined where no object has it. */
export function objectAt(
  path: Path,
): { readonly kind: ObjectKind; readonly name: string; readonly rest: Path } | undefined {
  const kind = OBJECT_KINDS.find((one) => isBelow(path, one));
  if (kind === undefined) return undefined;
  const { length } = PLACES[kind];
  return { kind, name: String(path[length] ?? ""), rest: path.slice(length + 1) };
}

/** The objects of a file, in the order of their kinds. */
export function objectBlocks(root: RawValue): readonly ObjectBlock[] {
  return OBJECT_KINDS.flatMap((kind) => {
    const above = PLACES[kind].reduce((at: RawValue, name) => blockOf(at)[name], root);
    const named = Object.entries(blockOf(above)).filter(([name]) => isBelow([...PLACES[kind], name], kind));
    return named.map(([name, value]): ObjectBlock => ({ kind, name, value }));
  });
}

/** A root that has objects alone. */
export function rootOf(objects: readonly ObjectBlock[]): Readonly<Record<string, RawValue>> {
  const root: Record<string, RawValue> = {};
  for (const { kind, name, value } of objects) {
    let at = root;
    for (const part of PLACES[kind]) at = (at[part] ??= {}) as Record<string, RawValue>;
    at[name] = value;
  }
  return root;
}

/** What is there once stands in the file under the name of its kind. */
function isBelow(path: Path, kind: ObjectKind): boolean {
  const place: readonly string[] = PLACES[kind];
  return place.length === 0 ? path[0] === kind : place.every((part, index) => path[index] === part);
}
