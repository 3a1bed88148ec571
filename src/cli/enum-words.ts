/** The values of the protocol's enums as people type them, which is as JSON says them. */
import { InvalidArgumentError } from "commander";

/** An enum as the generated code has it, of whose names each begins with the enum's own. */
type Values<Value> = Readonly<Record<string, Value | string>>;

export class EnumWords<Value extends number> {
  readonly #values: ReadonlyMap<string, Value>;

  constructor(values: Values<Value>, prefix: string) {
    const named = Object.entries(values).flatMap(([name, value]): [string, Value][] =>
      // Zero says nothing, and what is below it is none of the protocol's.
      typeof value !== "string" && value > 0 ? [[name.slice(prefix.length).toLowerCase(), value]] : [],
    );
    this.#values = new Map(named);
  }

  get words(): readonly string[] {
    return [...this.#values.keys()];
  }

  /** Undefined where no value is called so. */
  find(word: string): Value | undefined {
    return this.#values.get(word);
  }

  /** For an option or an argument. */
  readonly read = (word: string): Value => {
    const value = this.find(word);
    if (value === undefined) throw new InvalidArgumentError(`Write one of ${this.words.join(", ")}.`);
    return value;
  };

  /** Empty for a value that has no word. */
  wordOf(value: Value): string {
    return [...this.#values].find(([, each]) => each === value)?.[0] ?? "";
  }
}
