/** Makes one batch of a stream, where the target answers as a stream alone and its caller wants the answer whole. */
import type { Event } from "../api/index.js";
import type { AnswerReport, Batch } from "../wire/wire.js";
import type { BatchReceiver } from "./attempt.js";

const NO_BYTES = Buffer.alloc(0);

export class Gathering implements BatchReceiver {
  readonly #events: Event[] = [];

  constructor(private readonly receiver: BatchReceiver) {}

  take(batch: Batch): boolean {
    for (const event of batch.events) this.#events.push(event);
    return true;
  }

  /** What is gathered waits for nobody, since it is never longer than an answer may be. */
  onDrain(): void {}

  watch(report: AnswerReport): void {
    this.receiver.watch(report);
  }

  dropped(params: readonly string[]): void {
    this.receiver.dropped?.(params);
  }

  /** The answer is whole. */
  end(): void {
    this.receiver.take({ events: this.#events, source: NO_BYTES, visible: true, error: undefined });
  }
}
