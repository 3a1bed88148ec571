/**
 * What a front end must know of long bodies: outlines, where its service is in another process and so leaves none with
 * the body, and what a body names of earlier answers.
 */
import { asBuffer } from "../base/bytes/bytes.js";
import { sharedBytes } from "../base/bytes/shared-bytes.js";
import { GatewayError } from "../base/errors.js";
import type { NamedItem } from "../wire/openai-responses/index.js";
import { keepOutline } from "../wire/request/outline.js";
import type { SourceBody } from "../wire/wire.js";
import { askerOf, ReadingThread } from "./reading-thread.js";

export interface Outlines {
  /**
   * The same source, its body in shared memory and its outline at hand. Holders take turns. Rejects with OVERLOADED; a
   * body that cannot be read is left to the service to refuse.
   */
  prepare(source: SourceBody, holder: string): Promise<SourceBody>;
  /** The items of earlier answers that the body names, which is in shared memory. Rejects with OVERLOADED. */
  names(source: SourceBody, holder: string): Promise<readonly NamedItem[]>;
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
        const { value } = await thread.ask(question, askerOf(holder), "outline");
        keepOutline(body, asBuffer(value));
      } catch (error) {
        if (!(error instanceof GatewayError && error.reason === "ERROR_REASON_BODY_INVALID")) throw error;
      }
      return prepared;
    },
    async names(source, holder) {
      const question = { source: { ...source, purpose: "generate" }, task: { kind: "names" } } as const;
      return (await thread.ask(question, askerOf(holder), "names")).value;
    },
    close: () => thread.close(),
  };
}
