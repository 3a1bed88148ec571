/** Certificates that change while they are in use. */
import { mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, expect, test } from "vitest";
import { readTlsFiles, type TlsFiles, type TlsWatch, watchTlsFiles } from "../../src/config/tls.js";
import { makeCertificate } from "../support/certificate.js";
import { allowTimeToFail } from "../support/pauses.js";

const base = mkdtempSync(join(tmpdir(), "tollgate-tls-"));
afterAll(() => rmSync(base, { recursive: true }));
const paths = { cert: join(base, "cert"), key: join(base, "key"), ca: undefined };
let pair = makeCertificate();
let taken: TlsFiles[];
let refused: unknown[];
let watching: TlsWatch;

beforeEach(() => {
  [taken, refused] = [[], []];
  write((pair = makeCertificate()));
});
afterEach(() => watching.close());

function write({ key, cert }: { readonly key: string; readonly cert: string }): void {
  writeFileSync(paths.key, key);
  writeFileSync(paths.cert, cert);
}

function watch(inUse = readTlsFiles(paths)): void {
  const use = (files: TlsFiles): unknown => taken.push(files);
  watching = watchTlsFiles({ paths, inUse, pollMs: 2 }, use, (error) => refused.push(error));
}

const certOf = (files: TlsFiles | undefined): string | undefined => files?.cert?.toString();

test("files that are written again as they were change nothing, and the next that differ are taken once", async () => {
  watch();
  for (let time = 1; time <= 5; time++) {
    write(pair);
    utimesSync(paths.cert, time, time);
    await allowTimeToFail(10);
  }
  expect(taken).toEqual([]);
  const renewed = makeCertificate();
  write(renewed);
  await expect.poll(() => certOf(taken.at(-1))).toBe(renewed.cert);
  expect(taken).toHaveLength(1);
});

test("half of a renewal is refused, and the old that comes back is still what is in use", async () => {
  watch();
  writeFileSync(paths.cert, makeCertificate().cert);
  await expect.poll(() => refused.length).toBe(1);
  write(pair);
  utimesSync(paths.cert, 1, 1);
  const renewed = makeCertificate();
  write(renewed);
  await expect.poll(() => certOf(taken.at(-1))).toBe(renewed.cert);
  expect(taken).toHaveLength(1);
});

test("what changed between its reading and the watch is found", async () => {
  const before = readTlsFiles(paths);
  const renewed = makeCertificate();
  write(renewed);
  watch(before);
  await expect.poll(() => certOf(taken.at(-1))).toBe(renewed.cert);
});
