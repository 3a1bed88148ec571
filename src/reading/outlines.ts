/** Outlines of long bodies for a front end whose service is in another process, and so leaves none with the body. */
import { asBuffer } from "../api/bytes.js";
import { sharedBytes } from "../api/shared-bytes.js";
import { GatewayError } from "../errors.js";
import { keepOutline } from "../wire/outline.js";
import type { SourceBody } from "../wire/wire.js";
import { ReadingThread } from "./reading-thread.js";

export interface Outlines {
  /**
   * The same source, its body in shared memory and its outline at hand. Holders take turns. Rejects with OVERLOADED; a
   * body that cannot be read is left to the service to refuse.
   */
  prepare(source: SourceBody, holder: string): Promise<SourceBody>;
  close(): Promise<void>;
}

/** Makes them with one thread, which starts with the first of them. */
export function createOutlines(): Outlines {
  const thread = new ReadingThread();
  return {
    async prepare(source, holder) {
      const body = await sharedBytes([source.body], source.body.length);
      const prepared = { ...source, body };
      try {
        const question = { source: { ...prepared, purpose: "generate" }, task: { kind: "outline" } } as const;
        const { value } = await thread.ask(question, holder, "outline");
        keepOutline(body, asBuffer(value));
      } catch (error) {
        if (!(error instanceof GatewayError && error.reason === "ERROR_REASON_BODY_INVALID")) throw error;
      }
      return prepared;
    },
    close: () => thread.close(),
  };
}
