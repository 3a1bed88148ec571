/**
 * Makes any call of one part by another throw: whatever is called through a part that is watched is a place, counted
 * by its name and its pass, and one of these passes fails. A method that a part gains later is a place by itself.
 */

/** Which call fails: the name of a place, and which pass of it, from 1. */
export interface Fault {
  readonly place: string;
  readonly pass: number;
}

/** What an injected fault throws. */
export class InjectedFault extends Error {}

type Named = Readonly<Record<string, string>>;

/** The calls of one request, and the one among them that fails. */
export class Faults {
  readonly passes = new Map<string, number>();
  hasThrown = false;
  #fault: Fault | undefined;
  readonly #watched = new WeakMap<object, object>();

  begin(fault: Fault | undefined): void {
    this.passes.clear();
    this.#fault = fault;
    this.hasThrown = false;
  }

  /** A place is passed. */
  pass(place: string): void {
    const pass = (this.passes.get(place) ?? 0) + 1;
    this.passes.set(place, pass);
    if (this.#fault?.place !== place || this.#fault.pass !== pass) return;
    this.hasThrown = true;
    throw new InjectedFault(`${place}, pass ${pass}`);
  }

  /**
   * The part, each of whose calls is a place, and so is each call of what it has or gives. `names` has a name
   * for what is given; with `given` what it is given itself, such as a receiver, is watched too, under these names.
   */
  watch<Part extends object>(name: string, part: Part, names: Named = {}, given: Named | undefined = undefined): Part {
    const known = this.#watched.get(part);
    if (known !== undefined) return known as Part;
    // Over an empty object: the members of one that is frozen may not be told otherwise.
    const watched = new Proxy(Object.create(null) as Part, {
      get: (_, key) => {
        const value: unknown = Reflect.get(part, key, part);
        if (typeof key !== "string") return value;
        if (typeof value !== "function") return isPart(value) ? this.watch(names[key] ?? key, value, names) : value;
        return (...values: unknown[]): unknown => {
          this.pass(`${name}.${key}`);
          const told = values.map((one, index) => this.#given(one, `${key} ${index}`, given));
          const result: unknown = Reflect.apply(value, part, told);
          const made = (one: unknown): unknown => (isPart(one) ? this.watch(names[key] ?? key, one, names) : one);
          return result instanceof Promise ? result.then(made) : made(result);
        };
      },
      set: (_, key, value) => Reflect.set(part, key, value, part),
      has: (_, key) => Reflect.has(part, key),
      ownKeys: () => Reflect.ownKeys(part),
      getOwnPropertyDescriptor: (_, key) => {
        const described = Reflect.getOwnPropertyDescriptor(part, key);
        return described && { ...described, configurable: true };
      },
      getPrototypeOf: () => Reflect.getPrototypeOf(part),
    });
    this.#watched.set(part, watched);
    this.#watched.set(watched, watched);
    return watched;
  }

  #given(value: unknown, at: string, given: Named | undefined): unknown {
    const name = given?.[at];
    return name !== undefined && isPart(value) ? this.watch(name, value) : value;
  }
}

/** True for what does something when it is called; data, bytes and errors are none. */
function isPart(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  if (value instanceof Error || value instanceof Promise || ArrayBuffer.isView(value) || value instanceof Date)
    return false;
  if (Array.isArray(value) || value instanceof Map) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return true;
  return Object.values(value).some((member) => typeof member === "function");
}
