/** What a careful client hears of an answer, read apart from the program's own code. */
import type { Tokens } from "../scenario.js";

export interface HeardCall {
  readonly name: string;
  /** The arguments, read and written again, so that spaces make no difference; free text as the member `input`. */
  readonly arguments: string;
}

export interface Heard {
  readonly text: string;
  readonly thinking: string;
  readonly refusal: string;
  readonly calls: readonly HeardCall[];
  /** The end, in the wire's own word. */
  readonly end: string;
  /** Undefined where none was told. */
  readonly tokens: Tokens | undefined;
}

/** Reads answers of one wire. Both throw where an answer breaks the wire's grammar, or is not whole. */
export interface Reader {
  readonly wire: string;
  stream(text: string): Heard;
  answer(text: string): Heard;
}

export type Json = Readonly<Record<string, unknown>>;

/** What was heard so far. */
export class Hearing {
  text = "";
  thinking = "";
  refusal = "";
  end = "";
  tokens: Tokens | undefined;
  readonly calls: { name: string; arguments: string; custom?: boolean }[] = [];

  heard(): Heard {
    const { text, thinking, refusal, end, tokens } = this;
    if (end === "") throw new Error("it did not end");
    const calls = this.calls.map(({ name, arguments: told, custom }) => ({
      name,
      arguments:
        custom === true ? JSON.stringify({ input: told }) : JSON.stringify(JSON.parse(told === "" ? "{}" : told)),
    }));
    return { text, thinking, refusal, calls, end, tokens };
  }

  ended(word: unknown): void {
    check(this.end === "", `it ended twice, with ${this.end} and ${String(word)}`);
    check(typeof word === "string" && word !== "", "it ended with no word");
    this.end = String(word);
  }
}

export function check(holds: boolean, problem: string): asserts holds {
  if (!holds) throw new Error(problem);
}

/** The payloads of a stream with the names of their events, as the rules of event streams have them. */
export function payloads(text: string): { readonly name: string; readonly data: string }[] {
  const events: { name: string; data: string }[] = [];
  for (const block of text.split(/\r?\n\r?\n/)) {
    const lines = block.split(/\r?\n/).filter((told) => told !== "" && !told.startsWith(":"));
    if (lines.length === 0) continue;
    const fields = lines.map((told) => /^(event|data): (.*)$/.exec(told));
    check(!fields.includes(null), `no field: ${block}`);
    const of = (name: string): string[] => fields.flatMap((field) => (field?.[1] === name ? [field[2] ?? ""] : []));
    events.push({ name: of("event").join(""), data: of("data").join("\n") });
  }
  check(/\n\r?\n$/.test(text), "its last event is not closed");
  return events;
}

export function object(value: unknown): Json {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : {};
}

export function objects(value: unknown): readonly Json[] {
  return Array.isArray(value) ? (value as Json[]) : [];
}

export function string(value: unknown): string {
  return typeof value === "string" ? value : "";
}

export function number(value: unknown): number {
  return typeof value === "number" ? value : 0;
}
