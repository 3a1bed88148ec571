/** JSON and streams of events spelled anew: the same values in other spaces, escapes, orders and line ends. */

import { pick, type Random } from "../support/random.js";

/** How one text is spelled, all through. */
interface Spelling {
  readonly random: Random;
  /** What may stand between two tokens. */
  readonly spaces: readonly string[];
  /** How often a sign of a string is written by its number. */
  readonly escapes: number;
  readonly shufflesMembers: boolean;
}

const SPACES: readonly (readonly string[])[] = [
  [""],
  [" "],
  ["\n  "],
  ["\r\n    "],
  ["", "\r", "\t", "\n\n"],
  ["", " ", "\n", "\r\n"],
];

/** The JSON as the same value, spelled by chance. */
export function respell(json: string, random: Random): string {
  const spelling = {
    random,
    spaces: pick(random, SPACES),
    escapes: pick(random, [0, 0, 0.1, 1]),
    shufflesMembers: random() < 0.5,
  };
  return spell(JSON.parse(json), spelling);
}

function spell(value: unknown, spelling: Spelling): string {
  const gap = (): string => pick(spelling.random, spelling.spaces);
  const list = (open: string, items: readonly string[], close: string): string =>
    `${gap()}${open}${gap()}${items.join(`${gap()},${gap()}`)}${gap()}${close}${gap()}`;
  if (typeof value === "string") return spellString(value, spelling);
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) {
    const items = value.map((item) => spell(item, spelling));
    return list("[", items, "]");
  }
  const members = Object.entries(value).map(
    ([key, item]) => `${spellString(key, spelling)}${gap()}:${gap()}${spell(item, spelling)}`,
  );
  return list("{", spelling.shufflesMembers ? shuffled(members, spelling.random) : members, "}");
}

function spellString(text: string, { random, escapes }: Spelling): string {
  if (escapes === 0) return JSON.stringify(text);
  let told = "";
  for (let place = 0; place < text.length; place++) {
    const sign = text[place]!;
    const isEscaped = random() < escapes;
    if (isEscaped && sign === "/" && random() < 0.5) told += "\\/";
    else if (isEscaped) told += `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`;
    else told += JSON.stringify(sign).slice(1, -1);
  }
  return `"${told}"`;
}

function shuffled<Item>(items: readonly Item[], random: Random): Item[] {
  const mixed = [...items];
  for (let place = mixed.length - 1; place > 0; place--) {
    const other = Math.floor(random() * (place + 1));
    [mixed[place], mixed[other]] = [mixed[other]!, mixed[place]!];
  }
  return mixed;
}

/** A stream of events whose data is JSON, or a mark: the same events in other lines. */
export function respellStream(stream: string, random: Random): string {
  const lineEnd = pick(random, ["\n", "\n", "\r\n", "\r"]);
  const space = pick(random, [" ", ""]);
  const events = stream.split("\n\n").filter((event) => event !== "");
  const told = events.map((event) => {
    const lines = event.split("\n").flatMap((line) => {
      if (!line.startsWith("data: {")) return [line];
      const json = respell(line.slice("data: ".length), random);
      return json.split(/\r\n|\r|\n/).map((part) => `data:${space}${part}`);
    });
    return lines.map((line) => line + lineEnd).join("");
  });
  return (random() < 0.2 ? "\ufeff" : "") + told.map((event) => event + lineEnd).join("");
}
