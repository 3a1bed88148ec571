/**
 * What leaves at the end of the event loop's turn, one behind the other: whole answers, and events of streams. Each
 * write wakes whoever reads it. Apart from each other, with the work on an answer between two of them, they find their
 * reader asleep again each time.
 */
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Writable } from "node:stream";

interface Leaving {
  /** It is cut where `write` throws. */
  readonly to: Writable;
  readonly write: (to: Writable) => void;
}

let leaving: Leaving[] = [];

/** Calls `write` once all is read that came in this turn. Where it throws, its connection is cut; no other waits. */
export function writeAtEndOfTurn(response: ServerResponse, write: (response: ServerResponse) => void): void {
  leave({ to: response, write: () => write(response) });
}

/** What is written to a connection, such as a chunk's four pieces, leaves once all is read that came in this turn. */
export function holdTurn(socket: Socket): void {
  if (socket.writableCorked > 0) return;
  socket.cork();
  leave({ to: socket, write: uncork });
}

function uncork(to: Writable): void {
  to.uncork();
}

function leave(one: Leaving): void {
  if (leaving.push(one) === 1) setImmediate(writeAll);
}

function writeAll(): void {
  const all = leaving;
  leaving = [];
  for (const { to, write } of all) {
    if (to.destroyed) continue;
    try {
      write(to);
    } catch {
      to.destroy();
    }
  }
}
