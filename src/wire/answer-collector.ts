/** What a reader of an answer gathers, whatever its wire: the text, and the steps for a caller who takes them. */
import type { Event } from "../api/index.js";
import { GrowingText } from "./growing-text.js";

/** Where what reads a part of an answer puts what it finds. */
export interface Collector {
  /** True where steps are wanted; else only the text counts. */
  readonly isTyped: boolean;
  add(event: Event): void;
  addText(text: string): void;
}

export class AnswerCollector implements Collector {
  readonly grown = new GrowingText();
  private events: Event[] = [];

  /** `isTyped` says whether steps are kept; the text is gathered either way. */
  constructor(readonly isTyped: boolean) {}

  get text(): string {
    return this.grown.toString();
  }

  add(event: Event): void {
    if (this.isTyped) this.events.push(event);
  }

  addText(text: string): void {
    this.grown.add(text);
  }

  /** The steps since the last time. */
  takeEvents(): Event[] {
    const { events } = this;
    this.events = [];
    return events;
  }
}
