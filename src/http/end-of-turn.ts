/**
 * Answers that leave one behind the other at the end of the event loop's turn. Each write wakes whoever reads it. Apart
 * from each other, with the work on an answer between two of them, they find their reader asleep again each time.
 */
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";

interface Leaving {
  readonly response: ServerResponse;
  readonly write: (response: ServerResponse) => void;
}

let leaving: Leaving[] = [];

/** Calls `write` once all is read that came in this turn. Where it throws, its connection is cut; no other waits. */
export function writeAtEndOfTurn(response: ServerResponse, write: (response: ServerResponse) => void): void {
  if (leaving.push({ response, write }) === 1) setImmediate(writeAll);
}

function writeAll(): void {
  const answers = leaving;
  leaving = [];
  for (const { response, write } of answers) {
    if (response.destroyed) continue;
    try {
      write(response);
    } catch {
      response.destroy();
    }
  }
}

let held: Socket[] = [];

/** What is written to a connection from now on leaves once all is read that came in this turn. */
export function holdTurn(socket: Socket): void {
  if (socket.writableCorked > 0) return;
  socket.cork();
  if (held.push(socket) === 1) setImmediate(letGo);
}

function letGo(): void {
  const sockets = held;
  held = [];
  for (const socket of sockets) socket.uncork();
}
