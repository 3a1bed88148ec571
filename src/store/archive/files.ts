/** Files of an archive: written whole, on the disk before anybody counts on them, and read a line at a time. */
import { closeSync, createReadStream, fsyncSync, openSync, renameSync, writeSync } from "node:fs";
import { createHash, type Hash } from "node:crypto";
import { dirname } from "node:path";
import { pipeline, Transform } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { createGunzip, gzipSync } from "node:zlib";

/** How much text is compressed and written at once. */
const BLOCK_BYTES = 1 << 20;
/** No transfer has as much in it. */
const LINE_CHARACTERS_MAX = 1 << 24;

/** A file that is there, under its name, once it is whole and on the disk. */
export class LineFile {
  readonly #path: string;
  readonly #file: number;
  readonly #compressed: boolean;
  readonly #hash: Hash = createHash("sha256");
  #block: string[] = [];
  #blockBytes = 0;

  constructor(path: string, compressed: boolean) {
    this.#path = path;
    this.#compressed = compressed;
    this.#file = openSync(`${path}.draft`, "w", 0o600);
  }

  /** A whole line, with its end. */
  write(line: string): void {
    this.#block.push(line);
    this.#blockBytes += line.length;
    if (this.#blockBytes >= BLOCK_BYTES) this.#flush();
  }

  /** Returns the SHA-256 of the file. */
  finish(): string {
    this.#flush();
    fsyncSync(this.#file);
    closeSync(this.#file);
    renameSync(`${this.#path}.draft`, this.#path);
    const directory = openSync(dirname(this.#path), "r");
    fsyncSync(directory);
    closeSync(directory);
    return this.#hash.digest("hex");
  }

  abandon(): void {
    closeSync(this.#file);
  }

  /** Each block is a member of its own: one after the other they are a gzip file again. */
  #flush(): void {
    if (this.#block.length === 0) return;
    const text = Buffer.from(this.#block.join(""));
    const bytes = this.#compressed ? gzipSync(text) : text;
    this.#hash.update(bytes);
    for (let start = 0; start < bytes.length;) start += writeSync(this.#file, bytes, start);
    this.#block = [];
    this.#blockBytes = 0;
  }
}

export interface Lines {
  readonly lines: AsyncGenerator<string, void, undefined>;
  /** The SHA-256 of the file, once all lines were read. */
  readonly hash: () => string;
}

/** The iteration throws where the file cannot be read, or is damaged. */
export function readLines(path: string, compressed: boolean): Lines {
  const hash = createHash("sha256");
  const tap = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      done(undefined, chunk);
    },
  });
  const source = createReadStream(path);
  const bytes = compressed
    ? pipeline(source, tap, createGunzip(), () => undefined)
    : pipeline(source, tap, () => undefined);
  return { lines: linesOf(bytes), hash: () => hash.digest("hex") };
}

async function* linesOf(bytes: AsyncIterable<Buffer>): AsyncGenerator<string, void, undefined> {
  const decoder = new StringDecoder("utf8");
  let rest = "";
  for await (const chunk of bytes) {
    const parts = `${rest}${decoder.write(chunk)}`.split("\n");
    rest = parts.pop() ?? "";
    if (rest.length > LINE_CHARACTERS_MAX) throw new Error("a line is too long");
    yield* parts;
  }
  if (rest !== "") throw new Error("the last line has no end");
}
