/** Secrets: their shape, their checksum, their masks and their digests. */
import { randomBytes } from "node:crypto";
import { fc } from "../support/seeds.js";
import { describe, expect, test } from "vitest";
import { digestOf, hintOf, makeSecret, pepperOf, shapeOf } from "../../src/keys/secret.js";
import { FOREIGN, ROOT_SECRET, seededBytes } from "./key-world.js";

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

describe("a made secret", () => {
  test("has the promised shape and is valid", () => {
    for (let count = 0; count < 200; count++) {
      const secret = makeSecret(randomBytes);
      expect(secret).toMatch(/^sk-tg[0-9A-Za-z]{8}[0-9A-Za-z]{32}[0-9A-Za-z]{6}$/);
      expect(shapeOf(secret)).toBe("ours-valid");
    }
  });

  test("is fixed by its random bytes, checksum included, so that old keys stay valid", () => {
    // CRC32 of the body by another implementation: base 62 of the number, high digit first.
    const secret = makeSecret(() => new Uint8Array(40));
    expect(secret).toBe(`sk-tg${"0".repeat(40)}${base62(crc32Slow(`sk-tg${"0".repeat(40)}`))}`);
  });

  test("of another length is mistyped even where its checksum fits", () => {
    for (const length of [38, 39, 41, 42]) {
      const body = `sk-tg${"0".repeat(length)}`;
      expect(shapeOf(body + base62(crc32Slow(body)))).toBe("ours-mistyped");
    }
  });

  test("uses all of base 62 without bias", () => {
    const bytes = seededBytes("bias");
    const counts = new Map<string, number>();
    for (let count = 0; count < 1_000; count++)
      for (const letter of makeSecret(bytes).slice(5, 45)) counts.set(letter, (counts.get(letter) ?? 0) + 1);
    expect(counts.size).toBe(62);
    // 40,000 letters: 645 of each, with a deviation of 25. A remainder of 256 alone would give the first eight 781.
    for (const count of counts.values()) expect(Math.abs(count - 645)).toBeLessThan(110);
  });

  test("is refused rather than made where randomness gives only bytes that would bias it", () => {
    expect(() => makeSecret((byteCount) => new Uint8Array(byteCount).fill(255))).toThrow("randomness");
  });

  test("with any one character changed, lost or doubled is mistyped", () => {
    const place = fc.integer({ min: 5, max: 50 });
    const letter = fc.constantFrom(...BASE62);
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), place, letter, (seed, at, other) => {
        const secret = makeSecret(seededBytes(seed));
        const changed = secret.slice(0, at) + other + secret.slice(at + 1);
        if (changed !== secret) expect(shapeOf(changed)).toBe("ours-mistyped");
        expect(shapeOf(secret.slice(0, at) + secret.slice(at + 1))).toBe("ours-mistyped");
        expect(shapeOf(secret.slice(0, at) + other + secret.slice(at))).toBe("ours-mistyped");
      }),
    );
  });
});

test.each([
  { name: "an imported key", secret: FOREIGN, want: "foreign" },
  { name: "the shortest import", secret: `sk-${"x".repeat(16)}`, want: "foreign" },
  { name: "one character less", secret: `sk-${"x".repeat(15)}`, want: "malformed" },
  { name: "the longest import", secret: `sk-${"x".repeat(253)}`, want: "foreign" },
  { name: "one character more", secret: `sk-${"x".repeat(254)}`, want: "malformed" },
  { name: "another prefix", secret: "pk-abcdefghijklmnopqrstuvwxyz", want: "malformed" },
  { name: "upper case", secret: `SK-${"x".repeat(30)}`, want: "malformed" },
  { name: "a space within", secret: "sk-abcdefgh ijklmnopqrstuvwxyz", want: "malformed" },
  { name: "two keys joined by a proxy", secret: `${FOREIGN}, ${FOREIGN}`, want: "malformed" },
  { name: "a line feed at the end", secret: `${FOREIGN}\n`, want: "malformed" },
  { name: "a letter outside ASCII", secret: "sk-abcdefghijklmnopqrstüvwxyz", want: "malformed" },
  { name: "our prefix with other characters", secret: `sk-tg_${"x".repeat(45)}`, want: "foreign" },
  { name: "our prefix, far shorter", secret: `sk-tg${"x".repeat(20)}`, want: "foreign" },
  { name: "our shape, no checksum", secret: `sk-tg${"x".repeat(46)}`, want: "ours-mistyped" },
  { name: "nothing", secret: "", want: "malformed" },
])("$name is $want", ({ secret, want }) => {
  expect(shapeOf(secret)).toBe(want);
});

test.each([
  { secret: "sk-tg3fabcdefghijklmnopqrstuvwxyz0123456789ABCDEx9", want: "sk-tg3f...x9" },
  { secret: FOREIGN, want: "sk-pr...89" },
  { secret: "sk-1234", want: "sk-..." },
  { secret: "hunter2", want: "..." },
  { secret: "", want: "..." },
  { secret: `sk-\u0000${"x".repeat(30)}`, want: "sk-..." },
])("$want is shown of $secret", ({ secret, want }) => {
  expect(hintOf(secret)).toBe(want);
});

test("a hint shows at most nine characters of a secret and hides at least ten", () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 300, unit: "binary" }), fc.constantFrom("", "sk-", "sk-tg"), (tail, prefix) => {
      const secret = prefix + tail;
      const [first = "", last = ""] = hintOf(secret).split("...");
      expect(first.length).toBeLessThanOrEqual(7);
      expect(last.length).toBeLessThanOrEqual(2);
      expect(hintOf(secret)).not.toContain(" ");
      if (last !== "") expect(secret.length - first.length - last.length).toBeGreaterThanOrEqual(10);
    }),
  );
});

test("a digest depends on the secret and on the root secret", () => {
  const pepper = pepperOf(ROOT_SECRET);
  const digest = digestOf(pepper, FOREIGN);
  // HMAC-SHA-256, and four bytes that name its key.
  expect(digest.byteLength).toBe(36);
  expect(digestOf(pepperOf(ROOT_SECRET), FOREIGN)).toEqual(digest);
  expect(digestOf(pepper, `${FOREIGN}0`)).not.toEqual(digest);
  expect(digestOf(pepperOf(Buffer.from("another root secret of 32 characters")), FOREIGN)).not.toEqual(digest);
});

/** CRC32 bit by bit, as its definition says. */
function crc32Slow(text: string): number {
  let rest = 0xffffffff;
  for (const byte of Buffer.from(text)) {
    rest ^= byte;
    for (let bit = 0; bit < 8; bit++) rest = rest & 1 ? (rest >>> 1) ^ 0xedb88320 : rest >>> 1;
  }
  return (rest ^ 0xffffffff) >>> 0;
}

function base62(value: number): string {
  let text = "";
  for (let rest = value, place = 0; place < 6; place++, rest = Math.floor(rest / 62)) text = BASE62[rest % 62] + text;
  return text;
}
