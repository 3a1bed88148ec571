/** Files of lines that are durable once they are acknowledged: what a crash, a bad disk and a full one leave. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { type JournalBounds, JournalFile } from "../../src/store/journal-file.js";
import { type Journals, openJournals } from "../../src/store/journals.js";
import { temporaryDirectory } from "../support/temporary-directory.js";

interface Opened {
  readonly path: string;
  open(bounds?: Partial<JournalBounds>): Promise<JournalFile>;
}

function journalPath(): Opened {
  const directory = temporaryDirectory();
  mkdirSync(directory);
  const path = join(directory, "journal");
  const open = async (bounds?: Partial<JournalBounds>): Promise<JournalFile> => {
    const file = await JournalFile.open(path, bounds);
    onTestFinished(() => file.close().catch(() => undefined));
    return file;
  };
  return { path, open };
}

/** A file with three lines, closed. */
async function three(): Promise<Opened> {
  const made = journalPath();
  const file = await made.open();
  for (const text of ["one", "two", "three ñ"]) await file.append(text);
  await file.close();
  return made;
}

describe("a journal's file", () => {
  test("has all lines that were acknowledged, in their order, whatever came together", async () => {
    const { open } = journalPath();
    const file = await open();
    const texts = Array.from({ length: 300 }, (_, index) => `line ${index}`);
    await Promise.all(texts.map((text) => file.append(text)));
    expect(file.lines).toBe(300);
    await file.close();
    expect((await open()).found).toEqual({ texts, damaged: 0, tornBytes: 0 });
  });

  test("is empty after it was cleared, and takes lines again", async () => {
    const { open } = await three();
    const file = await open();
    file.clear();
    await file.append("four");
    await file.close();
    expect((await open()).found.texts).toEqual(["four"]);
  });

  test("a line that is on its way when all is cleared is acknowledged, and may be there or not", async () => {
    const { open } = journalPath();
    const file = await open();
    const appended = [file.append("one"), file.append("two")];
    file.clear();
    await Promise.all(appended);
    await file.append("three");
    await file.close();
    expect((await open()).found.texts.at(-1)).toBe("three");
  });

  test("a torn last line is none, wherever it is torn, and those before it are there", async () => {
    const { path } = await three();
    const whole = readFileSync(path);
    const lastStart = whole.lastIndexOf(0x0a, whole.length - 2) + 1;
    for (let length = lastStart; length < whole.length; length += 1) {
      writeFileSync(path, whole.subarray(0, length));
      const file = await JournalFile.open(path);
      expect(file.found).toEqual({ texts: ["one", "two"], damaged: 0, tornBytes: length - lastStart });
      await file.close();
    }
  });

  test("a byte that changed in the middle costs its line and no other, and is told", async () => {
    const { path } = await three();
    const whole = readFileSync(path);
    const lastStart = whole.lastIndexOf(0x0a, whole.length - 2) + 1;
    for (let place = 0; place < lastStart - 1; place += 1) {
      const changed = Buffer.from(whole);
      changed[place] = (changed[place] ?? 0) ^ 0x01;
      writeFileSync(path, changed);
      const file = await JournalFile.open(path);
      const { texts, damaged } = file.found;
      expect(damaged, `byte ${place}`).toBeGreaterThan(0);
      expect(["one", "two", "three ñ"]).toEqual(expect.arrayContaining([...texts]));
      expect(texts).toContain("three ñ");
      await file.close();
    }
  });

  test.each([
    { name: "bytes", bounds: { bytesMax: 100 } },
    { name: "lines", bounds: { linesMax: 4 } },
  ])("takes no more beyond its bound of $name, and goes on once it was cleared", async ({ bounds }) => {
    const { open } = journalPath();
    const file = await open(bounds);
    const ends = await Promise.allSettled(Array.from({ length: 10 }, (_, index) => file.append(`line ${index}`)));
    const taken = ends.filter(({ status }) => status === "fulfilled").length;
    expect(taken).toBe(4);
    expect(ends.slice(taken).every(({ status }) => status === "rejected")).toBe(true);
    file.clear();
    await file.append("again");
    await file.close();
    expect((await open()).found.texts).toEqual(["again"]);
  });

  test.skipIf(!existsSync("/dev/full"))("acknowledges nothing on a full disk", async () => {
    const { open: openAgain } = journalPath();
    const file = await openAgain();
    // What is written from here on goes to a device that is always full.
    const full = await open("/dev/full", "r+");
    const { write } = full;
    const handle = vi.spyOn(Object.getPrototypeOf(full) as typeof full, "write");
    handle.mockImplementationOnce((...args: unknown[]) => Reflect.apply(write, full, args));
    await expect(file.append("one")).rejects.toThrow(/ENOSPC/);
    handle.mockRestore();
    await full.close();
    // A part of it may have been taken: nothing of it is left, and the next line follows the last.
    expect(file.lines).toBe(0);
    await file.append("two");
    await file.close();
    expect((await openAgain()).found).toEqual({ texts: ["two"], damaged: 0, tornBytes: 0 });
  });

  test("takes nothing more after a sync that failed", async () => {
    const { path, open: openFile } = journalPath();
    const file = await openFile();
    await file.append("one");
    const probe = await open(path);
    const datasync = vi.spyOn(Object.getPrototypeOf(probe) as typeof probe, "datasync");
    datasync.mockRejectedValueOnce(new Error("EIO"));
    await expect(file.append("two")).rejects.toThrow("EIO");
    datasync.mockRestore();
    await probe.close();
    expect(file.hasRoom).toBe(false);
    await expect(file.append("three")).rejects.toThrow("the journal broke");
  });
});

describe("the journals of a directory", () => {
  async function openIn(directory: string): Promise<Journals> {
    const journals = await openJournals(directory);
    onTestFinished(() => journals.close().catch(() => undefined));
    return journals;
  }

  test("each process has its own, and the next finds what those left that are gone", async () => {
    const directory = temporaryDirectory();
    const [first, second] = [await openIn(directory), await openIn(directory)];
    await first.append("of the first");
    await second.append("of the second");
    await second.close();
    const third = await openIn(directory);
    expect(third.found).toEqual(["of the second"]);
    await third.close();
    await first.close();
    const fourth = await openIn(directory);
    expect(fourth.found).toEqual(["of the first", "of the second"]);
    await fourth.forget();
    await fourth.append("of the fourth");
    await fourth.close();
    expect((await openIn(directory)).found).toEqual(["of the fourth"]);
  });

  test("keep a copy of a file that is damaged", async () => {
    const directory = temporaryDirectory();
    const first = await openIn(directory);
    for (const text of ["one", "two"]) await first.append(text);
    await first.close();
    const place = join(directory, "journals", "0");
    const path = join(place, "journal");
    const bytes = readFileSync(path);
    bytes[17] = (bytes[17] ?? 0) ^ 0x01;
    writeFileSync(path, bytes);
    const second = await openIn(directory);
    expect(second).toMatchObject({ found: ["two"], damaged: 1 });
    await second.forget();
    const copy = readdirSync(place).find((name) => name.startsWith("journal.damaged-")) ?? "";
    expect(readFileSync(join(place, copy))).toEqual(bytes);
  });
});
