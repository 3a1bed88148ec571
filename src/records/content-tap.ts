/** What a request and its answer say, gathered while it runs, of accounts that have it kept. Nobody else has a tap. */
import type { ContentSettings } from "../api/index.js";
import { BODY_BYTES_DEFAULT } from "../base/account-bounds.js";

/** What is gathered beyond the bound, so that a secret that crosses it is found whole, and taken out. */
export const MARGIN_CHARACTERS = 1_024;

/** A text of an answer that grows, as far as it is needed here. */
interface Grown {
  readonly length: number;
  from(place: number): string;
}

/** A request as it was read, as far as it is needed here. */
export interface AskedContent {
  /** The client's own body. */
  readonly source?: { readonly body: Uint8Array } | undefined;
  readonly embedding?: { inputs(): readonly unknown[] } | undefined;
  readonly long?: unknown;
  prompt(): object;
}

/** As it goes to the thread that redacts and stores it: bounded, and not redacted yet. */
export interface GatheredContent {
  readonly id: string;
  readonly accountId: string;
  readonly endUser: string;
  readonly endTimeMs: number;
  readonly format: string;
  readonly settings: ContentSettings;
  /** UTF-8, or text. */
  readonly request: Uint8Array | string;
  readonly requestCut: boolean;
  readonly answer: Uint8Array | string;
  readonly answerCut: boolean;
}

/** What was gathered, without whose it is. */
export type Gathered = Pick<GatheredContent, "settings" | "request" | "requestCut" | "answer" | "answerCut">;

export class ContentTap {
  readonly #max: number;
  #answer: Uint8Array | string = "";
  /** Where the text of the answer ends that was seen. */
  #place = 0;
  #isCut = false;

  constructor(
    private readonly settings: ContentSettings,
    private readonly asked: AskedContent,
  ) {
    this.#max = (settings.bodyBytesMax || BODY_BYTES_DEFAULT) + MARGIN_CHARACTERS;
  }

  /** What was gathered of an answer goes: another attempt begins. */
  restart(): void {
    this.#answer = "";
    this.#place = 0;
    this.#isCut = false;
  }

  /** Takes what the answer grew by, before anything of it is dropped. */
  follow(text: Grown): void {
    const { length } = text;
    if (length === this.#place || typeof this.#answer !== "string") return;
    if (this.#answer.length < this.#max) this.#answer += text.from(this.#place);
    this.#place = length;
    if (this.#answer.length <= this.#max) return;
    this.#answer = this.#answer.slice(0, this.#max);
    this.#isCut = true;
  }

  /** Takes an answer that came whole: its upstream's own body, or where that is not at hand its text. */
  whole(body: Uint8Array, text: string): void {
    const { length } = body.length > 0 ? body : text;
    this.#isCut = length > this.#max;
    this.#answer = body.length > 0 ? copied(body, this.#max) : text.slice(0, this.#max);
  }

  gathered(): Gathered {
    const { source } = this.asked;
    const request = source === undefined ? this.#typed() : copied(source.body, this.#max);
    const requestCut = (source?.body ?? request).length > this.#max;
    const bounded = typeof request === "string" ? request.slice(0, this.#max) : request;
    const [answer, answerCut] = [this.#answer, this.#isCut];
    return { settings: this.settings, request: bounded, requestCut, answer, answerCut };
  }

  /** A request that came in the typed form, as JSON. */
  #typed(): string {
    const { embedding } = this.asked;
    const said = embedding === undefined ? this.asked.prompt() : embedding.inputs();
    return JSON.stringify(said, function (this: Readonly<Record<string, unknown>>, name, value: unknown) {
      // Bytes that make JSON of themselves come as that.
      const own = this[name];
      if (own instanceof Uint8Array) return `${own.length} bytes`;
      return typeof value === "bigint" ? String(value) : value;
    });
  }
}

/** A copy that holds nothing else alive. */
function copied(bytes: Uint8Array, most: number): Uint8Array {
  return new Uint8Array(bytes.subarray(0, most));
}
