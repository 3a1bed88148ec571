/** The text of long JSON strings, passed by vector instructions, which JavaScript itself does not have. */
import { copyShared } from "../../base/bytes/shared-bytes.js";
import { LONG_STRING_MODULE } from "../../../gen/wasm/long-string.js";

interface Constant {
  readonly value: number;
}

/** What `assembly/long-string.ts` exports. */
interface LongStringExports {
  readonly memory: { readonly buffer: ArrayBuffer };
  readonly WINDOW: Constant;
  readonly WINDOW_BYTES: Constant;
  readonly SAW_ESCAPE: Constant;
  readonly SAW_SPELLED: Constant;
  pass(length: number): number;
  flags(): number;
}

/** Of the language itself, and yet described only with browsers' libraries. */
declare const WebAssembly: {
  readonly Module: new (bytes: Buffer) => object;
  readonly Instance: new (module: object) => { readonly exports: unknown };
};

/** A string is rarely much longer than what was seen of it, so each copy is twice the one before. */
const FIRST_BYTES = 1024;

/** What is passed lies in the module's own memory, which one caller at a time uses, without a pause. */
class LongStrings {
  readonly #module: LongStringExports;
  readonly #window: Buffer;
  readonly #escapeFlag: number;
  readonly #spelledFlag: number;
  /** Of the last pass: whether it saw an escape, and whether one spelled a sign as u and its number. */
  sawEscape = false;
  sawSpelled = false;

  /** Throws where the processor has no such instructions. */
  constructor() {
    const module = new WebAssembly.Module(Buffer.from(LONG_STRING_MODULE, "base64"));
    // What the module exports is said beside it; its types are not there at run time.
    this.#module = new WebAssembly.Instance(module).exports as LongStringExports;
    const { memory, WINDOW, WINDOW_BYTES, SAW_ESCAPE, SAW_SPELLED } = this.#module;
    this.#window = Buffer.from(memory.buffer, WINDOW.value, WINDOW_BYTES.value);
    this.#escapeFlag = SAW_ESCAPE.value;
    this.#spelledFlag = SAW_SPELLED.value;
  }

  /**
   * From a place inside a string, not behind a backslash, to its last quote, to a byte that may not stand in a string,
   * or to the backslash of an escape that must be looked at; to the end of the bytes where there is none.
   */
  pass(bytes: Buffer, start: number): number {
    let flags = 0;
    let at = start;
    let size = FIRST_BYTES;
    while (at < bytes.length) {
      const length = copyShared(bytes, this.#window, 0, at, Math.min(at + size, bytes.length));
      const passed = this.#module.pass(length);
      flags |= this.#module.flags();
      at += passed;
      if (passed < length) break;
      size = Math.min(2 * size, this.#window.length);
    }
    this.sawEscape = (flags & this.#escapeFlag) !== 0;
    this.sawSpelled = (flags & this.#spelledFlag) !== 0;
    return at;
  }
}

function longStringsHere(): LongStrings | undefined {
  try {
    return new LongStrings();
  } catch {
    return undefined;
  }
}

/** Undefined where the module is refused, as on the plainest processor that a virtual machine is given. */
export const longStrings = longStringsHere();
