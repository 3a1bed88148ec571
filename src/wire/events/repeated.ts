/** Reads the events of one stream that repeat the one before in all but a text, which most do, without parsing them. */
import { type JsonPath, TextTemplate } from "../json/text-template.js";
import type { JsonObject } from "../json/value.js";

/** The events of a wire that say a text and nothing else. */
export interface TextEvents {
  readonly text: JsonPath;
  /** Strings that differ from event to event and mean nothing. */
  readonly meaningless: readonly JsonPath[];
  /** True of an event that would change nothing but the text by coming again. */
  saysTextAlone(event: JsonObject): boolean;
}

/** Learning from an event costs as much as parsing some. */
const LEARNING_PAYS_TEXTS = 8;
const WAIT_EVENTS_MAX = 1_024;

export class RepeatedEvents {
  /** Of the last event. */
  #template: TextTemplate | undefined;
  /** The texts that it read. */
  #texts = 0;
  /** Events that say a text alone and were parsed, since it was learnt; and how many of them must come first. */
  #parsed = 0;
  #waitEvents = 2;

  constructor(private readonly kind: TextEvents) {}

  /** The text of an event that differs from the last one in nothing else. */
  textOf(data: Buffer): string | undefined {
    const text = this.#template?.read(data);
    if (text !== undefined) this.#texts++;
    return text;
  }

  /** The last event is now another, and one that comes again is not to be taken for it. */
  forget(): void {
    this.#template = undefined;
  }

  /** The last event is now another, which was parsed. Where learning brings little, it is done ever more rarely. */
  note(event: JsonObject, data: Buffer): void {
    this.#template = undefined;
    if (!this.kind.saysTextAlone(event)) return;
    if (this.#texts >= LEARNING_PAYS_TEXTS) this.#waitEvents = 1;
    this.#texts = 0;
    if (++this.#parsed < this.#waitEvents) return;
    this.#parsed = 0;
    this.#waitEvents = Math.min(this.#waitEvents * 2, WAIT_EVENTS_MAX);
    this.#template = TextTemplate.of(data, this.kind.text, this.kind.meaningless);
  }
}
