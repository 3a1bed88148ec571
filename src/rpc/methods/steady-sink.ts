/** Pushes messages of an endless stream as fast as its receiver takes them. */
import type { CancelSignal } from "../../base/cancellation.js";
import type { Sink } from "../../api/channel.js";

/** Pushes one message after the other, and waits where the receiver is behind: at most until the call is over. */
export function steadily<Message>(
  sink: Sink<Message>,
  signal: CancelSignal,
): (message: Message) => Promise<void> | undefined {
  let goOn: (() => void) | undefined;
  sink.onDrain(() => goOn?.());
  signal.addEventListener("abort", () => goOn?.(), { once: true });
  return (message) => {
    if (sink.data(message) || signal.aborted) return undefined;
    return new Promise<void>((resolve) => (goOn = resolve));
  };
}
