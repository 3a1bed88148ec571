/** One call as the replays see it: what is asked, by which method, and how its messages become bytes. */
import { createHash } from "node:crypto";
import type { CallMetadata, Method, Sink } from "../../api/channel.js";

/** In the head of an answer that another request made first: that request's id, under which it was charged. */
export const ORIGINAL_HEADER = "x-tollgate-original-request";

export class Ask<Request, Message> {
  #print: Buffer | undefined;

  constructor(
    readonly method: Method<Request, Message>,
    readonly request: Request,
    readonly metadata: CallMetadata,
  ) {}

  /** What the request asks, and by which method, as 32 bytes. */
  get print(): Buffer {
    this.#print ??= createHash("sha256")
      .update(this.method.path)
      .update("\0")
      .update(this.method.requestSerialize(this.request))
      .digest();
    return this.#print;
  }

  bytesOf(message: Message): Buffer {
    return this.method.responseSerialize(message);
  }
}

/** A sink whose head says more, of an answer that another request made. */
export function withHead<Message>(sink: Sink<Message>, more: CallMetadata): Sink<Message> {
  return {
    head: (metadata) => sink.head({ ...metadata, ...more }),
    data: (message) => sink.data(message),
    onDrain: (callback) => sink.onDrain(callback),
  };
}
