/** A whole answer as its batches come: nothing of it is sent before all of it is there. */
import { AnswerFold } from "../api/fold.js";
import type { StreamGenerateResponse } from "../api/index.js";
import type { ClientWire, WireRequest } from "../formats/format.js";

export class WholeAnswer {
  readonly #wire: ClientWire;
  readonly #asked: () => WireRequest;
  readonly #fold = new AnswerFold();
  readonly #sources: Buffer[] = [];

  /** `asked` reads what the client asked. */
  constructor(wire: ClientWire, asked: () => WireRequest) {
    this.#wire = wire;
    this.#asked = asked;
  }

  push({ source, events }: StreamGenerateResponse): void {
    // Where the wire's own bytes came, the events beside them tell only the end.
    if (source.length > 0) this.#sources.push(source);
    else this.#fold.push(events);
  }

  body(): Buffer {
    return this.#sources.length > 0
      ? Buffer.concat(this.#sources)
      : this.#wire.encodeAnswer(this.#fold.answer(), this.#asked);
  }
}
