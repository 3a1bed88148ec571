/** Numbers that people type, in the ways of many locales: read as they were meant, or refused, and never as others. */
import { describe, expect, test } from "vitest";
import { type TypedNumber, typedNumbers } from "../../src/base/typed-number.js";

/** One of each way to write numbers that Node's Intl knows, and those in which countries of one language differ. */
const LOCALES = (
  "ar-EG ar-MA bg bn cs da de de-AT de-CH de-LI el en en-IN en-ZA es es-AR es-MX et fa ff-Adlm fi fr fr-CA fr-CH he hi " +
  "hr hu id it it-CH ja ko lt mr my nb ne nl pl pt-BR pt-PT ro ru sl sv th tr uk ur vi zh"
).split(" ");
const AMOUNTS = ["0.05", "0.5", "1", "7", "12.5", "50.00", "99.99", "100", "999", "1000", "1234", "1234.5", "1234.56"];
AMOUNTS.push("10000", "12345.6", "100000", "999999.99", "1000000", "1234567.89", "100000000");

function usd(text: string): bigint {
  const [whole = "0", fraction = ""] = text.split(".");
  return BigInt(whole + fraction.padEnd(9, "0"));
}

/** A number in the ways of a locale: with groups and without, with the decimals that it has and with two. */
function waysOf(text: string, locale: string): string[] {
  const decimals = text.split(".")[1]?.length ?? 0;
  return [decimals, Math.max(decimals, 2)].flatMap((minimumFractionDigits) =>
    [true, false].map((useGrouping) => Number(text).toLocaleString(locale, { useGrouping, minimumFractionDigits })),
  );
}

const WAYS = new Map(
  LOCALES.map((locale) => [locale, AMOUNTS.map((amount) => [amount, waysOf(amount, locale)] as const)]),
);

describe.each(LOCALES)("for a reader of %s", (reader) => {
  const numbers = typedNumbers(reader);

  test("an amount in the reader's own way is that amount, or is refused with it among the readings", () => {
    for (const [amount, ways] of WAYS.get(reader) ?? []) {
      for (const typed of ways.flatMap((way) => [way, `$${way}`, `${way}\u00A0$`, ` ${way} USD`])) {
        const read = numbers.usd(typed);
        if (read.kind === "ambiguous") expect(read.readings.map(usd), typed).toContain(usd(amount));
        else expect({ typed, read }).toEqual({ typed, read: { kind: "number", value: usd(amount) } });
      }
    }
  });

  test("an amount in the way of another locale is never another amount, but where the reader's own way says so", () => {
    for (const [amount, ways] of [...WAYS.values()].flat()) {
      for (const typed of ways) {
        const read = numbers.usd(typed);
        // What 1.234 is to the reader's own locale it is, whatever a German means by it.
        if (read.kind === "number" && !/^\d{1,3}\.\d{3}$/.test(typed) && read.value !== usd(amount))
          expect({ typed, value: read.value }).toEqual({ typed, value: usd(amount) });
      }
    }
  });

  test("what the gateway itself writes is read as it is, but for three decimals, which a fourth makes certain", () => {
    for (const amount of ["12.50", "0.000001", "1234.00", "0.125", "1234567.25", "1.2340"])
      expect(numbers.usd(amount)).toEqual({ kind: "number", value: usd(amount) });
  });

  test("each reading that a refusal shows is read as it is", () => {
    let refused = 0;
    for (const typed of ["50,00", "0,05", "1.234", "1,234", "12,5", "1,2345", "100,000", "100.000", "5,0000"]) {
      const read = numbers.usd(typed);
      if (read.kind !== "ambiguous") continue;
      refused += 1;
      const [one, other] = read.readings.map((reading) => numbers.usd(reading));
      expect([one?.kind, other?.kind]).toEqual(["number", "number"]);
      expect(one).not.toEqual(other);
    }
    expect(refused).toBeGreaterThan(0);
  });

  test("a whole number in the reader's own way is that number, and decimals are none", () => {
    for (const whole of ["7", "60", "999", "1000", "12345", "1000000"]) {
      for (const useGrouping of [true, false]) {
        const typed = new Intl.NumberFormat(reader, { useGrouping }).format(Number(whole));
        expect(numbers.whole(typed)).toEqual({ kind: "number", value: BigInt(whole) });
      }
    }
    for (const typed of ["1.5", "1,5", "50,00x", "1e3", "0x10", "-5", "", " ", "NaN"])
      expect(numbers.whole(typed).kind, typed).not.toBe("number");
  });
});

function ambiguous(...readings: [string, string]): TypedNumber {
  return { kind: "ambiguous", readings };
}
const FIFTY: TypedNumber = { kind: "number", value: 50_000_000_000n };

test.each([
  { typed: "50,00", locale: "en-US", want: ambiguous("50.00", "5000.00") },
  { typed: "50,00", locale: undefined, want: ambiguous("50.00", "5000.00") },
  { typed: "50,00", locale: "de-DE", want: FIFTY },
  { typed: "50.00", locale: "de-DE", want: FIFTY },
  { typed: "0,05", locale: "en-US", want: ambiguous("0.05", "5.00") },
  { typed: "0,05", locale: "fr-FR", want: { kind: "number", value: 50_000_000n } },
  { typed: "1,234", locale: "en-US", want: { kind: "number", value: 1_234_000_000_000n } },
  { typed: "1,234", locale: undefined, want: ambiguous("1.2340", "1234.00") },
  { typed: "1,234", locale: "de-DE", want: ambiguous("1.2340", "1234.00") },
  { typed: "1.234", locale: "de-AT", want: ambiguous("1234.00", "1.2340") },
  { typed: "1.234", locale: undefined, want: { kind: "number", value: 1_234_000_000n } },
  { typed: "1'234.50", locale: "de-CH", want: { kind: "number", value: 1_234_500_000_000n } },
  { typed: "1,00,000", locale: "en-IN", want: { kind: "number", value: 100_000_000_000_000n } },
  { typed: "1,00,000", locale: "en-US", want: { kind: "wrong" } },
  { typed: "５０．００", locale: "ja-JP", want: FIFTY },
  { typed: "€50", locale: "de-DE", want: { kind: "wrong" } },
  { typed: "-50", locale: "en-US", want: { kind: "wrong" } },
  { typed: "1000000000.01", locale: "en-US", want: { kind: "wrong" } },
] as const)("$typed for a reader of $locale", ({ typed, locale, want }) => {
  expect(typedNumbers(locale).usd(typed)).toEqual(want);
});

test.each([
  { locale: "de-DE", text: "0,7", read: { kind: "number", value: 700_000_000n } },
  { locale: "en-US", text: "0.7", read: { kind: "number", value: 700_000_000n } },
  { locale: "en-US", text: "0,7", read: { kind: "ambiguous", readings: ["0.70", "7.00"] } },
  { locale: "en-US", text: "$0.7", read: { kind: "wrong" } },
])("$text of $locale is a number with decimals, or is refused", ({ locale, text, read }) => {
  expect(typedNumbers(locale).decimal(text)).toEqual(read);
});
