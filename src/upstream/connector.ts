/** How a connection to an upstream is opened, and how what arrives on it is read: past Node's machinery of streams. */
import { Socket } from "node:net";
import { buildConnector } from "undici";

/** What libuv suggests for one read. All connections share it: what it holds is taken before the next read. */
const arriving = Buffer.allocUnsafeSlow(64 * 1024);

/** What a connection read and nobody took yet. */
interface Inbox {
  readonly chunks: Buffer[];
  /** True where the kernel is not asked for more until somebody asks here. */
  stopped: boolean;
}
const INBOX = Symbol("inbox");
type DirectSocket = Socket & { [INBOX]?: Inbox };

/**
 * Opens connections for a pool of undici, over TCP or TLS. A read is put into one buffer, copied out at its size, and
 * handed over at once. A stream takes 64 KiB for each read and a turn of its queues: 0.8 µs more for each event.
 *
 * `read` and `unshift` stay replaced as long as Node 20 is served: undici 7, the last one for it, ends the process
 * where an upstream closes a connection whose reader pauses, and only these keep the end back. Undici 8 does not.
 */
export function createConnector(timeoutMs: number): buildConnector.connector {
  // Node calls it as a method of the socket that read, which no document says.
  const onread = { buffer: arriving, callback: take };
  const connector = buildConnector({ timeout: timeoutMs, onread } as buildConnector.BuildOptions);
  return (options, callback) => {
    connector(options, (...opened) => {
      const [error, socket] = opened;
      if (error === null) Object.assign(socket, { read, unshift });
      callback(...opened);
    });
  };
}

/** Takes what arrived; false where nobody wants more for now. */
function take(this: DirectSocket, length: number): boolean {
  const inbox = inboxOf(this);
  // A copy from a view costs twice as much.
  const chunk = Buffer.allocUnsafe(length);
  arriving.copy(chunk, 0, 0, length);
  inbox.chunks.push(chunk);
  // Undici reads as long as its request wants more.
  this.emit("readable");
  if (inbox.chunks.length > 0) inbox.stopped = true;
  return inbox.chunks.length === 0;
}

/** As `Socket.read`, but for sizes. Node asks for none (0) where it only wants the end told, or reading begun. */
function read(this: DirectSocket, size?: number): Buffer | null {
  const inbox = inboxOf(this);
  if (size === 0) {
    if (inbox.chunks.length === 0) return askForMore(this, size);
    inbox.stopped = true;
    return null;
  }
  const chunk = inbox.chunks.shift();
  if (chunk !== undefined) return chunk;
  return inbox.stopped ? askForMore(this) : null;
}

/**
 * Gives back what a reader that paused did not want yet. Nothing is kept too: undici throws, where nobody can catch it,
 * if a connection ends while its reader pauses, so the end must wait behind it.
 */
function unshift(this: DirectSocket, chunk: Buffer): void {
  inboxOf(this).chunks.unshift(chunk);
}

/** The end of the connection, too, is told only now, when all that came before it was taken. */
function askForMore(socket: DirectSocket, size?: number): null {
  inboxOf(socket).stopped = false;
  Socket.prototype.read.call(socket, size);
  return null;
}

function inboxOf(socket: DirectSocket): Inbox {
  return (socket[INBOX] ??= { chunks: [], stopped: false });
}
