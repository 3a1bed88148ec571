/** The root secret: made once, kept safe, never replaced behind anyone's back. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, expect, test } from "vitest";
import { deriveKey, readRootSecret, readRootSecrets } from "../../src/config/secret.js";

const base = mkdtempSync(join(tmpdir(), "tollgate-secret-"));
afterAll(() => rmSync(base, { recursive: true }));

let dataDirectory: string;
beforeEach(() => {
  dataDirectory = mkdtempSync(join(base, "case-"));
});

test("is made once, readable by its owner only, and the same from then on", () => {
  const first = readRootSecret({ secret: undefined, dataDirectory }, true);
  expect(first.length).toBe(64);
  expect(readRootSecret({ secret: undefined, dataDirectory }, false)).toEqual(first);
  expect(statSync(join(dataDirectory, "secret")).mode & 0o777).toBe(0o600);
  expect(readdirSync(dataDirectory)).toEqual(["secret"]);
});

test("differs from node to node", () => {
  const one = readRootSecret({ secret: undefined, dataDirectory }, true);
  const other = readRootSecret({ secret: undefined, dataDirectory: mkdtempSync(join(base, "another-")) }, true);
  expect(one.equals(other)).toBe(false);
});

test("of two processes that make it at once, both take the one that was first", () => {
  const winner = "w".repeat(40);
  const loser = readRootSecret({ secret: undefined, dataDirectory }, true, (byteCount) => {
    writeFileSync(join(dataDirectory, "secret"), winner);
    return Buffer.alloc(byteCount, 7);
  });
  expect(loser.toString()).toBe(winner);
  expect(readdirSync(dataDirectory)).toEqual(["secret"]);
});

test("the file's text works as the variable, which wins", () => {
  const kept = readRootSecret({ secret: undefined, dataDirectory }, true);
  const text = readFileSync(join(dataDirectory, "secret"), "utf8").trim();
  expect(readRootSecret({ secret: text, dataDirectory: "/nonexistent" }, false)).toEqual(kept);
  expect(readRootSecret({ secret: "v".repeat(32), dataDirectory }, false).toString()).toBe("v".repeat(32));
});

test("a damaged file is refused and left alone", () => {
  const path = join(dataDirectory, "secret");
  writeFileSync(path, "short\n");
  expect(() => readRootSecret({ secret: undefined, dataDirectory }, true)).toThrow(
    `${path} must hold at least 32 characters: restore it, or remove it and make a new one, once: tollgate serve --accept-loss`,
  );
  expect(readFileSync(path, "utf8")).toBe("short\n");
});

test("a data directory that is none is refused in one line without the secret", () => {
  const file = join(base, "a-file");
  writeFileSync(file, "");
  expect(() => readRootSecret({ secret: undefined, dataDirectory: join(file, "data") }, true)).toThrow(
    /^the root secret cannot be kept in .*a-file\/data\/secret: ENOTDIR[^\n]*$/,
  );
});

test("one that is gone is not replaced where a ledger knows it", () => {
  const path = join(dataDirectory, "secret");
  expect(() => readRootSecret({ secret: undefined, dataDirectory }, false)).toThrow(
    /^the root secret .*secret is gone, .*: restore it, or set TOLLGATE_SECRET to it, or .*--accept-loss$/,
  );
  expect(existsSync(path)).toBe(false);
});

test("beside another one none is made, and one secret is not two", () => {
  const secret = "s".repeat(32);
  const nothing = { secret: undefined, secretPrevious: undefined, secretNext: undefined, dataDirectory };
  expect(() => readRootSecrets({ ...nothing, secretPrevious: secret }, true)).toThrow(/^the root secret .* is gone/);
  expect(() => readRootSecrets({ ...nothing, secret, secretNext: secret }, true)).toThrow(
    "TOLLGATE_SECRET_NEXT is the root secret in force: unset it, or set TOLLGATE_SECRET to another one",
  );
});

test("each purpose has its own key of 32 bytes, always the same", () => {
  const root = Buffer.from("r".repeat(32));
  // Computed apart, from RFC 5869, with Python's hmac.
  expect(deriveKey(root, "key-pepper").toString("hex")).toBe(
    "0def1ab71887df2864401f2a3461ace3f196a27d7cd4a342b06a1d8a9aac89f5",
  );
  expect(deriveKey(root, "key-pepper")).toEqual(deriveKey(Buffer.from(root), "key-pepper"));
  expect(deriveKey(root, "credentials").equals(deriveKey(root, "key-pepper"))).toBe(false);
  expect(deriveKey(Buffer.from("s".repeat(32)), "key-pepper").equals(deriveKey(root, "key-pepper"))).toBe(false);
});
