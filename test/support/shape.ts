/** The shape of a value as somebody declared it, and what of a value does not fit it. */

export type Shape =
  | { readonly kind: "anything" | "string" | "number" | "boolean" }
  | { readonly kind: "literal"; readonly value: string | number | boolean | null }
  /** Numbers are places in the book's list of shapes. */
  | { readonly kind: "array"; readonly of: number }
  | { readonly kind: "union"; readonly of: readonly number[] }
  | ObjectShape;

export interface ObjectShape {
  readonly kind: "object";
  /** As declared; empty where it has no name. */
  readonly name: string;
  readonly members: Readonly<Record<string, { readonly of: number; readonly isOptional?: boolean }>>;
  /** Of members with names of any kind. */
  readonly rest?: number;
}

export interface ShapeBook {
  readonly shapes: readonly Shape[];
  /** Where the shape of each subject is. */
  readonly subjects: Readonly<Record<string, number>>;
}

/** What is really sent beside what is declared: `more` members, and `fewer`. By the name of the object. */
export type Allowance = Readonly<
  Record<string, { readonly more?: readonly string[]; readonly fewer?: readonly string[] }>
>;

/** What only a test says, to show that members which nobody knows travel. */
const OWN = /^x([-_]|$)/;

/** A place in a value and what is wrong there. */
interface Misfit {
  readonly path: string;
  readonly what: string;
}

export class Fitting {
  readonly #book: ShapeBook;
  readonly #allowance: Allowance;

  constructor(book: ShapeBook, allowance: Allowance) {
    this.#book = book;
    this.#allowance = allowance;
  }

  /** Says what of the value does not fit; undefined where all of it does. */
  misfit(subject: string, value: unknown): string | undefined {
    const place = this.#book.subjects[subject];
    if (place === undefined) throw new Error(`${subject} is no subject`);
    const found = this.#check(place, value, "");
    return found === undefined ? undefined : `${found.path || "the whole"} ${found.what}`;
  }

  #check(place: number, value: unknown, path: string): Misfit | undefined {
    const shape = this.#book.shapes[place];
    if (shape === undefined) throw new Error("a shape that the book lacks");
    switch (shape.kind) {
      case "anything":
        return undefined;
      case "literal":
        return value === shape.value ? undefined : { path, what: `is ${brief(value)}, not ${brief(shape.value)}` };
      case "array":
        return Array.isArray(value)
          ? first(value, (one, index) => this.#check(shape.of, one, `${path}[${index}]`))
          : { path, what: `is ${brief(value)}, not a list` };
      case "union":
        return this.#checkUnion(shape.of, value, path);
      case "object":
        return this.#checkObject(shape, value, path);
      default:
        return typeof value === shape.kind ? undefined : { path, what: `is ${brief(value)}, not a ${shape.kind}` };
    }
  }

  #checkObject(shape: ObjectShape, value: unknown, path: string): Misfit | undefined {
    if (!isObject(value)) return { path, what: `is ${brief(value)}, not ${shape.name || "an object"}` };
    const { more = [], fewer = [] } = this.#allowance[shape.name] ?? {};
    const missing = Object.entries(shape.members).find(
      ([name, { isOptional }]) => isOptional !== true && !Object.hasOwn(value, name) && !fewer.includes(name),
    );
    if (missing !== undefined) return { path, what: `lacks ${missing[0]} of ${shape.name}` };
    return first(Object.entries(value), ([name, one]) => {
      const at = `${path}.${name}`;
      const of = Object.hasOwn(shape.members, name) ? shape.members[name]?.of : shape.rest;
      if (of !== undefined) return this.#check(of, one, at);
      return more.includes(name) || OWN.test(name) ? undefined : { path: at, what: `is no member of ${shape.name}` };
    });
  }

  /** Says of the alternative that the value means to be why it is not. */
  #checkUnion(places: readonly number[], value: unknown, path: string): Misfit | undefined {
    const meant = isObject(value) ? places.filter((place) => this.#isMeant(place, value)) : places;
    const misfits: Misfit[] = [];
    for (const place of meant) {
      const found = this.#check(place, value, path);
      if (found === undefined) return undefined;
      misfits.push(found);
    }
    const deepest = misfits.toSorted((a, b) => b.path.length - a.path.length)[0];
    if (deepest !== undefined && (isObject(value) || meant.length === 1)) return deepest;
    return { path, what: `is ${brief(value)}, none of the ${places.length} alternatives` };
  }

  /** False where a member that tells alternatives apart, such as `type`, says another. */
  #isMeant(place: number, value: Readonly<Record<string, unknown>>): boolean {
    const shape = this.#book.shapes[place];
    if (shape?.kind === "union") return shape.of.some((one) => this.#isMeant(one, value));
    if (shape?.kind !== "object") return shape?.kind === "anything";
    return ["type", "object", "role", "kind"].every((name) => {
      const member = shape.members[name];
      return member === undefined || (member.isOptional === true && !Object.hasOwn(value, name))
        ? true
        : this.#check(member.of, value[name], "") === undefined;
    });
  }
}

function first<T>(list: readonly T[], check: (one: T, index: number) => Misfit | undefined): Misfit | undefined {
  for (const [index, one] of list.entries()) {
    const found = check(one, index);
    if (found !== undefined) return found;
  }
  return undefined;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function brief(value: unknown): string {
  const text = JSON.stringify(value) ?? "undefined";
  return text.length > 80 ? `${text.slice(0, 80)}...` : text;
}
