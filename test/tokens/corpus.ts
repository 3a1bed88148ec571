/** The corpus of the token report: 1,000 texts, the same on every machine, in ten languages and what is no language. */
import { pick, type Random, randomOf } from "../support/random.js";
import { LANGUAGES, type Pieces } from "./languages.js";

export interface CorpusText {
  /** A language, or what it is instead. */
  readonly kind: string;
  readonly text: string;
}

const SEED = 20_261_121;
const LANGUAGE_TEXTS = 70;
const OTHER_TEXTS = 50;

function upTo(random: Random, most: number): number {
  return 1 + Math.floor(random() * most);
}

function many<Item>(random: Random, most: number, make: () => Item): Item[] {
  return Array.from({ length: upTo(random, most) }, make);
}

const NAMES = ["count", "totalNanos", "user_id", "isReady", "HTTPServer", "retryAfterMs", "x", "größe", "ledger"];
const EMOJI = ["😀", "👩‍👩‍👧‍👦", "🇯🇵", "🏳️‍🌈", "❤️", "🧑🏽‍🚀", "☂", "🫠", "✅", "🔥🔥🔥"];
const BLANKS = [" ", "    ", "\t", "\n", "\r\n", "\n\n\n", "\u00a0", "\u3000", "                                "];
// Signs that some tokenizers replace by longer ones before they count, and marks that stand apart from their letters.
const ODD = [
  "ﷺ",
  "㍿",
  "㌀",
  "½",
  "ﬃ",
  "…",
  "①",
  "℡",
  "é",
  "ё",
  "ắ",
  "\u200b",
  "\u0001",
  "𝔘",
  "𠮷",
  "ไ",
  "ཨ",
  "ᚠ",
  "〱",
];
const LINES = {
  javascript: ["const $A = await $B($A, { $A: 17 });", "if ($A !== undefined) return $B?.$A ?? 0;", "// $A, then $B"],
  python: [
    "def $A(self, $B: int) -> None:",
    "    $A = [$B for $B in range(42) if $B % 3]",
    "    raise ValueError(f'{$A}')",
  ],
  sql: ["SELECT $A, sum($B) FROM t_$A WHERE $B >= 100 GROUP BY 1;", "UPDATE t_$B SET $A = $A + 1 WHERE id = 'k$B';"],
};

const OTHERS: Readonly<Record<string, (random: Random) => string>> = {
  code: (random) => {
    const lines = pick(random, Object.values(LINES));
    const name = () => pick(random, NAMES);
    return many(random, 12, () => pick(random, lines).replaceAll("$A", name()).replaceAll("$B", name())).join("\n");
  },
  json: (random) => {
    const member = () => [pick(random, NAMES), random() < 0.5 ? Math.floor(random() * 1e9) : pick(random, NAMES)];
    return JSON.stringify(
      many(random, 8, () => Object.fromEntries([member(), member()])),
      null,
      random() < 0.5 ? 2 : 0,
    );
  },
  base64: (random) => bytesOf(random, upTo(random, 300)).toString(random() < 0.7 ? "base64" : "hex"),
  emoji: (random) => many(random, 20, () => pick(random, EMOJI) + (random() < 0.3 ? " " : "")).join(""),
  blanks: (random) => many(random, 30, () => pick(random, BLANKS) + (random() < 0.3 ? "x" : "")).join(""),
  odd: (random) => many(random, 30, () => pick(random, ODD)).join(random() < 0.5 ? "" : " "),
};

function bytesOf(random: Random, length: number): Buffer {
  return Buffer.from(Array.from({ length }, () => Math.floor(random() * 256)));
}

function prose(random: Random, language: string, pieces: Pieces): string {
  const gap = language === "chinese" || language === "japanese" ? "" : " ";
  const sentence = () => {
    const [begin, middle, end] = [pick(random, pieces.begin), pick(random, pieces.middle), pick(random, pieces.end)];
    return begin + gap + middle + (/^[，、]/.test(end) ? "" : gap) + end;
  };
  return many(random, 8, sentence).join(random() < 0.2 ? "\n\n" : gap);
}

/** All of it, kind by kind. */
export function corpus(): CorpusText[] {
  const random = randomOf(SEED);
  const texts = Object.entries(LANGUAGES).flatMap(([kind, pieces]) =>
    Array.from({ length: LANGUAGE_TEXTS }, () => ({ kind, text: prose(random, kind, pieces) })),
  );
  for (const [kind, make] of Object.entries(OTHERS))
    texts.push(...Array.from({ length: OTHER_TEXTS }, () => ({ kind, text: make(random) })));
  return texts;
}
