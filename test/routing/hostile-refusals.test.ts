/** Whatever one tenant makes an upstream say, another tenant's next request is served: swept over all families. */
import { expect, test } from "vitest";
import type { Family } from "../../src/families/family.js";
import { families } from "../../src/families/index.js";
import { HOSTILE_WORDS, inWords, type Refusal, withCode } from "../support/refusals.js";
import { bySweep } from "../support/sweep.js";
import { Bench, requestOf } from "./refusing-model.js";

const MEANINGFUL = [400, 401, 402, 403, 404, 408, 409, 413, 422, 429, 451, 500, 502, 503, 504, 520, 529];
/** Those that mean something, and of the others each or every seventh. */
const STATUSES = Array.from({ length: 130 }, (_, index) => 400 + index).filter(
  (status) => MEANINGFUL.includes(status) || status % bySweep({ short: 20, long: 1, all: 1 }) === 0,
);
const CODES: Readonly<Record<string, readonly string[]>> = {
  anthropic: ["authentication_error", "billing_error", "permission_error", "not_found_error"],
  gemini: ["API_KEY_INVALID", "UNAUTHENTICATED", "BILLING_DISABLED", "NOT_FOUND"],
  "bedrock-converse": ["ExpiredTokenException", "AccessDeniedException", "ResourceNotFoundException"],
};
const OPENAI_CODES = ["invalid_api_key", "insufficient_quota", "account_deactivated", "model_not_found"];

/** All that an upstream of the family may be made to say. */
function* refusalsOf(family: Family): Iterable<readonly [string, Refusal]> {
  const codes = CODES[family.wire.name] ?? OPENAI_CODES;
  const isFirst = families.find(({ wire }) => wire.name === family.wire.name) === family;
  for (const status of isFirst ? STATUSES : MEANINGFUL) {
    // All words with all statuses are read in the families' own test; here each status has two of them.
    for (const place of [status, status + 3]) {
      const words = HOSTILE_WORDS[place % HOSTILE_WORDS.length] ?? "";
      yield [`${status} saying '${words}'`, inWords(family, status, words)];
    }
    for (const code of codes) yield [`${status} with ${code}`, withCode(family, status, code, HOSTILE_WORDS.join())];
  }
}

test.each(families)("$name: after any refusal of one tenant's requests another's is served", async (family) => {
  const bench = new Bench(family);
  for (const [what, refusal] of refusalsOf(family)) {
    bench.says = refusal;
    expect(await bench.ask("mallory"), what).toBeDefined();
    bench.says = undefined;
    const before = bench.asked;
    if ((await bench.ask("alice")) !== undefined) expect.unreachable(`alice was refused after ${what}`);
    if (bench.asked !== before + 1) expect.unreachable(`alice was not served at once after ${what}`);
  }
});

test.each(families)("$name: nor do all refusals in a row, with nobody served between them", async (family) => {
  const bench = new Bench(family);
  for (const [, refusal] of refusalsOf(family)) {
    bench.says = refusal;
    await bench.ask("mallory");
  }
  bench.says = undefined;
  expect(await bench.ask("alice")).toBeUndefined();
  expect(await bench.ask("mallory"), "what proved itself is back for all").toBeUndefined();
});

test.each(families)("$name: words alone eject nothing, however many tenants meet them", async (family) => {
  const bench = new Bench(family);
  const isExact = (status: number): boolean =>
    family.refusals?.some((row) => row.status === status && row.code === undefined) === true;
  for (const status of [400, 402, 403, 422]) {
    // Its documents give this status one meaning, whatever the words are.
    if (isExact(status)) continue;
    for (const words of HOSTILE_WORDS) {
      bench.says = inWords(family, status, words);
      for (const account of ["mallory", "trent", "oscar", "mallory"]) await bench.ask(account);
      bench.says = undefined;
      const before = bench.asked;
      expect(await bench.ask("alice"), `${status} saying '${words}'`).toBeUndefined();
      expect(bench.asked).toBe(before + 1);
    }
  }
});

/** What a wire takes for words about the gateway's account where a client did not write them. */
const OUR_WORDS = [
  ...HOSTILE_WORDS,
  "Your prepayment credits are depleted",
  "The provided model identifier is invalid.",
  "Insufficient credits: top up",
];
const SPELLINGS: readonly ((words: string) => string)[] = [
  (words) => JSON.stringify(words),
  (words) => JSON.stringify(`What does '${words.toUpperCase()}' mean?`),
  (words) => `"${Array.from(words, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`).join("")}"`,
];

test.each(families)("$name: words that a client wrote itself decide nothing", async (family) => {
  const judged: string[] = [];
  for (const status of [400, 413, 422])
    for (const words of OUR_WORDS) {
      const bench = new Bench(family);
      bench.says = inWords(family, status, "Told.");
      const plain = await bench.ask("trent");
      for (const said of [words, `Invalid value: '${words}'`]) {
        bench.says = inWords(family, status, said);
        if ((await bench.ask("oscar"))?.reason !== plain?.reason) judged.push(words);
        for (const spell of SPELLINGS) {
          const error = await bench.ask("mallory", requestOf(spell(words)));
          expect(error?.reason, `${status} saying '${said}'`).toBe(plain?.reason);
        }
      }
    }
  expect(judged, "words that nobody wrote still count").not.toEqual([]);
});

test("an upstream that refuses all its tenants is probed, and back for all with the first answer", async () => {
  const bench = new Bench(families[0] ?? expect.unreachable("there are families"));
  bench.says = withCode(families[0] ?? expect.unreachable(), 401, "invalid_api_key");
  for (const account of ["alice", "bob", "alice"]) await bench.ask(account);
  const before = bench.asked;
  for (let index = 0; index < 50; index += 1) {
    const error = await bench.ask(`tenant ${index}`);
    expect(error?.reason).toBe("ERROR_REASON_UPSTREAM_CREDENTIAL");
    expect(error?.retry).toBe(false);
  }
  expect(bench.asked).toBe(before);
  bench.nowMs += 1_000;
  bench.says = undefined;
  expect(await bench.ask("carol")).toBeUndefined();
  expect(await bench.ask("alice")).toBeUndefined();
});
