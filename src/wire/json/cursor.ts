/** A strict pull reader of JSON (RFC 8259) over bytes: one pass, bounded, nothing built that is not asked for. */
import { isUtf8 } from "node:buffer";
import { JSON_DEPTH_MAX } from "../../base/bytes/json-depth.js";
import { GatewayError } from "../../base/errors.js";
import { mayHoldAddress } from "../request/address-names.js";
import { mayNameKept } from "../request/kept-names.js";
import { longStrings } from "./long-string.js";
import { nameIn } from "./recent-names.js";

/** The most values of any JSON that is read here, and of a request whose values are more than numbers. */
export const JSON_NODES_MAX = 1_000_000;
export const BODY_NODES_MAX = 100_000;

export type JsonKind = "object" | "array" | "string" | "number" | "boolean" | "null";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const MINUS = 0x2d;
const UNDERSCORE = 0x5f;

const LITERALS = [
  { text: Buffer.from("true"), first: 0x74, kind: "boolean" },
  { text: Buffer.from("false"), first: 0x66, kind: "boolean" },
  { text: Buffer.from("null"), first: 0x6e, kind: "null" },
] as const;

/** 1 where a byte of a string needs a look: the quote, the backslash, and what must be escaped. */
const STOPS = new Uint8Array(256);
STOPS.fill(1, 0, 0x20);
STOPS[QUOTE] = 1;
STOPS[BACKSLASH] = 1;

/** Any row of so many digits is a number that a double holds exactly. */
const EXACT_DIGITS = 15;

/** How far a string is looked at byte by byte: the vectors' call costs as much as a hundred bytes. */
const NEAR_BYTES = 128;

/** 1 for what may follow a backslash, other than u. */
const ESCAPES = new Uint8Array(256);
for (const escape of '"\\/bfnrt') ESCAPES[escape.charCodeAt(0)] = 1;

/** The text of a string up to its end, to what breaks the grammar, or to an escape that is cut. */
const WHOLE_CHARACTERS = /^(?:[ !#-[\]-\xff]|\\(?:u[0-9a-fA-F]{4}|["\\/bfnrt]))*/;

/** Reads one body. Throws BODY_INVALID at the first byte that breaks the grammar or a bound. */
export class JsonCursor {
  /** The next byte to read: at a value's first byte after a key or an item was announced, just behind it once read. */
  at = 0;
  /** The first byte of the member that `nextKey` announced: its key's quote. */
  memberStart = 0;
  /** True where a string that was passed spells a sign as \\u and its number. */
  hasUnicodeEscapes = false;
  /** True where a member was passed, however deep, whose name may be that of what an upstream keeps. */
  sawKeptName = false;
  /** True where one was passed whose member may hold an address. */
  sawAddressName = false;
  /** How many containers are open. */
  private depth = 0;
  private nodes = 0;
  /** True where the string that was scanned last has an escape. */
  private escaped = false;
  /**
   * For each open container, the outermost first, whether it is an object, and whether it has shown no member yet. V8
   * keeps arrays of up to 64 bytes among its objects; a larger one costs twenty times as much to make.
   */
  private readonly isObject = new Uint8Array(JSON_DEPTH_MAX);
  private readonly isFresh = new Uint8Array(JSON_DEPTH_MAX);

  constructor(
    readonly bytes: Buffer,
    private readonly nodesMax = JSON_NODES_MAX,
  ) {
    if (!isUtf8(bytes)) throw invalid("not valid UTF-8");
    this.skipSpace();
  }

  /** What kind of value comes next. */
  kind(): JsonKind {
    const byte = this.bytes[this.at];
    if (byte === QUOTE) return "string";
    if (byte === OPEN_OBJECT) return "object";
    if (byte === OPEN_ARRAY) return "array";
    if (byte === MINUS || isDigit(byte)) return "number";
    for (const literal of LITERALS) if (byte === literal.first) return literal.kind;
    throw this.broken();
  }

  /** Opens the object that comes next; `nextKey` then announces its members. */
  enterObject(): void {
    if (this.bytes[this.at] !== OPEN_OBJECT) throw this.broken();
    this.enter(1);
  }

  /** Opens the array that comes next; `nextItem` then announces its elements. */
  enterArray(): void {
    if (this.bytes[this.at] !== OPEN_ARRAY) throw this.broken();
    this.enter(0);
  }

  /** Goes to the next member and returns its key, decoded; undefined where the object ended. */
  nextKey(): string | undefined {
    if (!this.nextMember()) return undefined;
    if (this.keyEscaped) return this.decode(this.memberStart, this.keyEnd, true);
    return nameIn(this.bytes, this.memberStart + 1, this.keyEnd - 1);
  }

  /** Goes to the next element; false where the array ended. */
  nextItem(): boolean {
    this.skipSpace();
    const byte = this.bytes[this.at];
    if (byte === CLOSE_ARRAY) return this.leave();
    if (this.isFresh[this.depth - 1] !== 1) {
      if (byte !== COMMA) throw this.broken();
      this.at++;
      this.skipSpace();
      if (this.bytes[this.at] === CLOSE_ARRAY) throw this.broken();
    }
    this.isFresh[this.depth - 1] = 0;
    return true;
  }

  /** Passes the value that comes next, whatever it is, and checks all of it. Deep nesting costs no stack. */
  skip(): void {
    const floor = this.depth;
    for (;;) {
      const byte = this.bytes[this.at];
      if (byte === QUOTE) {
        this.countNode();
        this.scanString();
      } else if (byte === OPEN_OBJECT) this.enter(1);
      else if (byte === OPEN_ARRAY) this.enter(0);
      else this.scanScalar();
      while (this.depth > floor && !this.advance());
      if (this.depth === floor) return;
    }
  }

  /** Reads the string that comes next. */
  readString(): string {
    if (this.bytes[this.at] !== QUOTE) throw this.broken();
    const start = this.at;
    this.countNode();
    this.scanString();
    return this.decode(start, this.at, this.escaped);
  }

  /** Reads the number that comes next, as near as a double comes. */
  readNumber(): number {
    const start = this.at;
    this.countNode();
    this.scanNumber();
    return this.wholeNumber(start) ?? Number(this.bytes.toString("latin1", start, this.at));
  }

  /** The number that was passed where it is a short row of digits, as nearly all are; else undefined. */
  private wholeNumber(start: number): number | undefined {
    if (this.at - start > EXACT_DIGITS) return undefined;
    let value = 0;
    for (let at = start; at < this.at; at++) {
      const byte = this.bytes[at];
      if (!isDigit(byte)) return undefined;
      value = value * 10 + (byte ?? 0) - 0x30;
    }
    return value;
  }

  /** Reads the true or false that comes next. */
  readBoolean(): boolean {
    const isTrue = this.bytes[this.at] === 0x74;
    if (this.kind() !== "boolean") throw this.broken();
    this.skip();
    return isTrue;
  }

  /** The first characters of the string that comes next, decoded; "" where it is no string. Reads nothing. */
  headOfString(charactersMax: number): string {
    if (this.bytes[this.at] !== QUOTE) return "";
    // No character takes more than the six bytes of \uXXXX.
    const text = this.bytes.toString("latin1", this.at + 1, this.at + 1 + 6 * charactersMax);
    const whole = WHOLE_CHARACTERS.exec(text)?.[0] ?? "";
    const decoded: unknown = JSON.parse(`"${whole}"`);
    return String(decoded).slice(0, charactersMax);
  }

  /** True where the bytes that come next are exactly these; reads nothing. */
  private startsWith(text: Buffer): boolean {
    const end = this.at + text.length;
    return end <= this.bytes.length && this.bytes.compare(text, 0, text.length, this.at, end) === 0;
  }

  /** Ends the reading: nothing but space may follow. */
  finish(): void {
    this.skipSpace();
    if (this.at !== this.bytes.length) throw this.broken();
  }

  private keyEnd = 0;
  private keyEscaped = false;

  /** Announces the next member without building its key. */
  private nextMember(): boolean {
    this.skipSpace();
    const { bytes } = this;
    if (bytes[this.at] === CLOSE_OBJECT) return this.leave();
    if (this.isFresh[this.depth - 1] !== 1) {
      if (bytes[this.at] !== COMMA) throw this.broken();
      this.at++;
      this.skipSpace();
    }
    this.isFresh[this.depth - 1] = 0;
    if (bytes[this.at] !== QUOTE) throw this.broken();
    this.memberStart = this.at;
    this.scanString();
    this.keyEnd = this.at;
    this.keyEscaped = this.escaped;
    // A key of an object's own machinery has no honest use, and whoever copies it later may assign it.
    if ((this.keyEscaped || bytes[this.memberStart + 1] === UNDERSCORE) && this.isProtoKey())
      throw invalid("the key '__proto__' is not allowed");
    this.sawKeptName ||= this.keyEscaped || mayNameKept(bytes, this.memberStart + 1, this.keyEnd - 1);
    this.sawAddressName ||= this.keyEscaped || mayHoldAddress(bytes, this.memberStart + 1, this.keyEnd - 1);
    this.skipSpace();
    if (bytes[this.at] !== COLON) throw this.broken();
    this.at++;
    this.skipSpace();
    return true;
  }

  private isProtoKey(): boolean {
    return this.decode(this.memberStart, this.keyEnd, this.keyEscaped) === "__proto__";
  }

  /** In the innermost container, to its next value; false where it ended. */
  private advance(): boolean {
    return this.isObject[this.depth - 1] === 1 ? this.nextMember() : this.nextItem();
  }

  private enter(isObject: number): void {
    this.countNode();
    if (this.depth === JSON_DEPTH_MAX) throw invalid(`nested deeper than ${JSON_DEPTH_MAX} levels`);
    this.isObject[this.depth] = isObject;
    this.isFresh[this.depth] = 1;
    this.depth++;
    this.at++;
  }

  private leave(): false {
    this.depth--;
    this.at++;
    return false;
  }

  private countNode(): void {
    if (++this.nodes > this.nodesMax) throw invalid(`it holds more than ${this.nodesMax} values; send fewer`);
  }

  private skipSpace(): void {
    const { bytes } = this;
    let at = this.at;
    for (;;) {
      const byte = bytes[at];
      if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) break;
      at++;
    }
    this.at = at;
  }

  /** Passes a string, from its first quote to behind its last. */
  private scanString(): void {
    const { bytes } = this;
    let at = this.at + 1;
    const near = longStrings === undefined ? bytes.length : Math.min(at + NEAR_BYTES, bytes.length);
    let escaped = false;
    for (;;) {
      while (at < near && STOPS[bytes[at] ?? 0] === 0) at++;
      if (at >= near && longStrings !== undefined) {
        at = longStrings.pass(bytes, at);
        escaped ||= longStrings.sawEscape;
        this.hasUnicodeEscapes ||= longStrings.sawSpelled;
      }
      const byte = bytes[at];
      if (byte === QUOTE) break;
      if (byte !== BACKSLASH) throw this.broken(at);
      escaped = true;
      at = this.passEscape(at);
    }
    this.escaped = escaped;
    this.at = at + 1;
  }

  /** From a backslash to behind its escape. */
  private passEscape(at: number): number {
    const { bytes } = this;
    const byte = bytes[at + 1];
    if (byte === undefined) throw this.broken(bytes.length);
    if (ESCAPES[byte] === 1) return at + 2;
    if (byte !== 0x75) throw this.broken(at + 1);
    this.hasUnicodeEscapes = true;
    for (let digit = at + 2; digit < at + 6; digit++) if (!isHex(bytes[digit])) throw this.broken(digit);
    return at + 6;
  }

  private scanScalar(): void {
    this.countNode();
    for (const literal of LITERALS) {
      if (this.bytes[this.at] !== literal.first) continue;
      if (!this.startsWith(literal.text)) throw this.broken();
      this.at += literal.text.length;
      return;
    }
    this.scanNumber();
  }

  private scanNumber(): void {
    const { bytes } = this;
    let at = this.at;
    if (bytes[at] === MINUS) at++;
    if (bytes[at] === 0x30) at++;
    else at = this.passDigits(at);
    if (bytes[at] === 0x2e) at = this.passDigits(at + 1);
    if (bytes[at] === 0x65 || bytes[at] === 0x45) {
      at++;
      if (bytes[at] === 0x2b || bytes[at] === MINUS) at++;
      at = this.passDigits(at);
    }
    this.at = at;
  }

  /** Behind one digit or more. */
  private passDigits(start: number): number {
    let at = start;
    while (isDigit(this.bytes[at])) at++;
    if (at === start) throw this.broken(at);
    return at;
  }

  /** The string between two quotes, decoded. */
  private decode(start: number, end: number, escaped: boolean): string {
    if (!escaped) return this.bytes.toString("utf8", start + 1, end - 1);
    return JSON.parse(this.bytes.toString("utf8", start, end)) as string;
  }

  private broken(at = this.at): GatewayError {
    return invalid(`not valid JSON at byte ${Math.min(at, this.bytes.length)}`);
  }
}

/** The refusal of a body. */
export function invalid(problem: string): GatewayError {
  return new GatewayError("ERROR_REASON_BODY_INVALID", { problem });
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39;
}

function isHex(byte: number | undefined): boolean {
  if (byte === undefined) return false;
  const lower = byte | 0x20;
  return isDigit(byte) || (lower >= 0x61 && lower <= 0x66);
}
