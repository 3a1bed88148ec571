/** Keeps what comes before the first output of an answer, so that a target that fails there can be left for another. */
import type { Event } from "../api/index.js";
import type { AnswerReport, Batch } from "../wire/wire.js";
import type { BatchReceiver } from "./attempt.js";
import type { TargetHealth } from "./health.js";

/** Openings and pings are far below this; what is more than this goes out whatever it is. */
const KEPT_BYTES_MAX = 64 * 1024;
const KEPT_EVENTS_MAX = 64;

export class FirstOutput implements BatchReceiver {
  /** True once something went to the caller. */
  isOut = false;
  #events: Event[] = [];
  #sources: Buffer[] = [];
  #bytes = 0;

  #health: TargetHealth | undefined;
  #token = 0;

  /** Of the attempt that runs, as far as it came. */
  report: AnswerReport | undefined;

  constructor(
    private readonly receiver: BatchReceiver,
    private readonly accountId: string,
  ) {}

  /** An attempt begins whose batches come next: what the one before said before its first output was never said. */
  begin(health: TargetHealth, token: number): void {
    this.#health = health;
    this.#token = token;
    this.report = undefined;
    if (this.#bytes > 0 || this.#events.length > 0) this.#forget();
  }

  /** The first output of the attempt came. */
  seen(): void {
    this.#health?.visible(this.#token, this.accountId);
  }

  take(batch: Batch): boolean {
    if (this.isOut) return this.receiver.take(batch);
    if (batch.error !== undefined) return true;
    if (!batch.visible && this.#keep(batch)) return true;
    this.isOut = true;
    return this.receiver.take(this.#opened(batch));
  }

  /** The answer is whole: where all of it was an opening, that is the answer. */
  end(): void {
    if (this.isOut || (this.#bytes === 0 && this.#events.length === 0)) return;
    this.isOut = true;
    this.receiver.take(this.#opened({ events: [], source: Buffer.alloc(0), visible: false, error: undefined }));
  }

  onDrain(callback: () => void): void {
    this.receiver.onDrain(callback);
  }

  watch(report: AnswerReport): void {
    this.report = report;
    this.receiver.watch(report);
  }

  exceeds(): boolean {
    return this.receiver.exceeds?.() === true;
  }

  waits(): void {
    this.receiver.waits?.();
  }

  missed(): void {
    this.receiver.missed?.();
  }

  dropped(params: readonly string[]): void {
    this.receiver.dropped?.(params);
  }

  /** False where there is no room. */
  #keep({ events, source }: Batch): boolean {
    const isFull =
      this.#bytes + source.length > KEPT_BYTES_MAX || this.#events.length + events.length > KEPT_EVENTS_MAX;
    if (isFull) return false;
    for (const event of events) this.#events.push(event);
    if (source.length > 0) this.#sources.push(source);
    this.#bytes += source.length;
    return true;
  }

  /** The batch with all that was kept before it. */
  #opened(batch: Batch): Batch {
    if (this.#bytes === 0 && this.#events.length === 0) return batch;
    const { error, embeddings } = batch;
    const events = [...this.#events, ...batch.events];
    const source = Buffer.concat([...this.#sources, batch.source]);
    this.#forget();
    return { events, source, visible: true, error, embeddings };
  }

  #forget(): void {
    this.#events = [];
    this.#sources = [];
    this.#bytes = 0;
  }
}
