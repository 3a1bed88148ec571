/** A whole answer as its batches come: nothing of it is sent before all of it is there. */
import { AnswerFold } from "../api/answer-fold.js";
import type { StreamGenerateResponse } from "../api/index.js";
import type { ClientWire, WireRequest } from "../formats/format.js";

export class WholeAnswer {
  readonly #wire: ClientWire;
  readonly #asked: () => WireRequest;
  #fold: AnswerFold | undefined;
  readonly #sources: Buffer[] = [];

  /** `asked` reads what the client asked. */
  constructor(wire: ClientWire, asked: () => WireRequest) {
    this.#wire = wire;
    this.#asked = asked;
  }

  push({ source, events }: StreamGenerateResponse): void {
    // Where the wire's own bytes came, the events beside them tell only the end.
    if (source.length > 0) this.#sources.push(source);
    else (this.#fold ??= new AnswerFold()).push(events);
  }

  body(): Buffer {
    const [first, second] = this.#sources;
    if (first === undefined) return this.#wire.encodeAnswer((this.#fold ?? new AnswerFold()).answer(), this.#asked);
    return second === undefined ? first : Buffer.concat(this.#sources);
  }
}
