/** One reader of a tape. */
import type { Sink } from "../../api/channel.js";
import { GatewayError } from "../../base/errors.js";
import type { Tape } from "./tape.js";

export class Follower<Message> {
  #position = 0;
  #headSent = false;
  #blocked = false;
  #over = false;
  #resolve: () => void = () => undefined;
  #reject: (error: GatewayError) => void = () => undefined;

  /** `onRead` is called when it reads on after it had fallen behind. */
  constructor(
    private readonly tape: Tape<Message>,
    private readonly sink: Sink<Message>,
    private readonly skip: number,
    private readonly onRead: () => void,
  ) {}

  /** How many messages it has read. */
  get position(): number {
    return this.#position;
  }

  run(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
      this.sink.onDrain(() => {
        this.#blocked = false;
        this.pump();
        this.onRead();
      });
      this.pump();
    });
  }

  leave(error: GatewayError): void {
    if (this.#over) return;
    this.#over = true;
    this.#reject(error);
  }

  /**
   * Reads as much as the sink takes. If the sink fails, this reader leaves: others read on, and the answer is recorded.
   */
  pump(): void {
    try {
      this.#pump();
    } catch (error) {
      this.leave(GatewayError.from(error));
    }
  }

  #pump(): void {
    const { tape, sink } = this;
    if (this.#over) return;
    if (!this.#headSent && tape.headers !== undefined) {
      this.#headSent = true;
      sink.head(tape.headers);
    }
    while (!this.#blocked && this.#position < tape.length) {
      const message = tape.at(this.#position);
      this.#position += 1;
      if (message !== undefined && this.#position > this.skip) this.#blocked = !sink.data(message);
    }
    const { end } = tape;
    if (end === undefined || this.#position < tape.length) return;
    this.#over = true;
    if (end.error === undefined) this.#resolve();
    else this.#reject(end.error);
  }
}
