/**
 * The thread that puts long bodies together. The event loop hands it their pieces as they come and copies nothing: what
 * it copied, and what it kept until V8 collected it, took as long as all else that a body costs it (decision 0440).
 */
import { Worker } from "node:worker_threads";
import { asBuffer, ownMemory } from "../base/bytes/bytes.js";
import { COUNTED_SHARE } from "../base/bytes/shared-bytes.js";
import { GatewayError } from "../base/errors.js";

/** Pieces cross once there are so many bytes of them: a message takes some microseconds. */
const HANDED_BYTES = 512 * 1024;
/** How long the thread stays with nothing to do. */
const IDLE_MS = 60_000;
/** Bodies and their pieces are not in its heap. */
const WORKER_HEAP_MB = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 4 };

/**
 * What runs in the thread. As text, since it must start alike from the compiled program and from a test of the source.
 * A body whose length is known is copied as it comes, and any other at its end.
 */
const WORKER = `
const { parentPort } = require("node:worker_threads");
const bodies = new Map();
parentPort.on("message", ({ id, pieces, bytes, isLast, isDropped }) => {
  if (isDropped) return void bodies.delete(id);
  let body = bodies.get(id);
  if (body === undefined) bodies.set(id, (body = { shared: undefined, kept: [], filled: 0 }));
  if (bytes !== undefined && body.shared === undefined) {
    body.shared = Buffer.from(new SharedArrayBuffer(bytes));
    body.counted = Buffer.allocUnsafeSlow(Math.ceil(bytes / ${COUNTED_SHARE}));
  }
  for (const piece of pieces) body.kept.push(new Uint8Array(piece));
  if (body.shared === undefined) return;
  for (const piece of body.kept) {
    const end = body.filled + piece.length;
    // One block, where \`set\` moves shared memory in small steps; to fill with nothing is to fill with zeros.
    if (piece.length > 0) body.shared.fill(piece, body.filled, end);
    body.filled = end;
  }
  body.kept = [];
  if (!isLast) return;
  bodies.delete(id);
  parentPort.postMessage({ id, body: body.shared });
});
`;

interface Told {
  readonly id: number;
  readonly body: Uint8Array;
}

interface Waiting {
  readonly resolve: (body: Buffer) => void;
  readonly reject: (error: GatewayError) => void;
}

/** A body on its way. */
export class GatheredBody {
  #pieces: ArrayBuffer[] = [];
  #pieceBytes = 0;
  #bytes = 0;

  constructor(
    private readonly thread: BodyThread,
    private readonly id: number,
    private readonly announcedBytes: number | undefined,
  ) {}

  /** Takes the memory of the piece, which is empty from then on. No more may come than was announced. */
  add(piece: Buffer): void {
    this.#pieceBytes += piece.length;
    this.#bytes += piece.length;
    this.#pieces.push(ownMemory(piece) ?? new Uint8Array(piece).buffer);
    if (this.#pieceBytes >= HANDED_BYTES) this.#hand(this.announcedBytes, false);
  }

  /** All of it, in memory that threads share. Rejects with OVERLOADED where the thread failed. */
  end(): Promise<Buffer> {
    const body = this.thread.await(this.id);
    this.#hand(this.#bytes, true);
    return body;
  }

  /** Nobody wants it any more. */
  drop(): void {
    this.#pieces = [];
    this.thread.drop(this.id);
  }

  #hand(bytes: number | undefined, isLast: boolean): void {
    const pieces = this.#pieces;
    this.#pieces = [];
    this.#pieceBytes = 0;
    this.thread.send({ id: this.id, pieces, bytes, isLast }, pieces);
  }
}

export class BodyThread {
  #worker: Worker | undefined;
  /** The bodies that are not whole; undefined while nobody waits for one. */
  readonly #open = new Map<number, Waiting | undefined>();
  #nextId = 0;
  #idle: NodeJS.Timeout | undefined;

  /** True while a thread runs. */
  get isRunning(): boolean {
    return this.#worker !== undefined;
  }

  /** `announcedBytes` is undefined where its length is not known. */
  begin(announcedBytes: number | undefined): GatheredBody {
    clearTimeout(this.#idle);
    this.#worker ??= this.#start();
    this.#worker.ref();
    const id = this.#nextId++;
    this.#open.set(id, undefined);
    return new GatheredBody(this, id, announcedBytes);
  }

  send(message: object, moved: readonly ArrayBuffer[]): void {
    this.#worker?.postMessage(message, moved);
  }

  await(id: number): Promise<Buffer> {
    // The thread failed over it, or over another one, since it began.
    if (!this.#open.has(id)) return Promise.reject(failed());
    return new Promise((resolve, reject) => void this.#open.set(id, { resolve, reject }));
  }

  drop(id: number): void {
    if (!this.#open.has(id)) return;
    this.send({ id, isDropped: true }, []);
    this.#close(id);
  }

  async close(): Promise<void> {
    clearTimeout(this.#idle);
    await this.#end();
  }

  /** A body is whole, or nobody wants it. */
  #close(id: number): void {
    this.#open.delete(id);
    if (this.#open.size > 0) return;
    // A thread with nothing to do must not keep the process alive.
    this.#worker?.unref();
    this.#idle = setTimeout(() => void this.close(), IDLE_MS).unref();
  }

  #start(): Worker {
    // Flags of this process, such as a test runner's loaders, are not the thread's.
    const worker = new Worker(WORKER, { eval: true, execArgv: [], name: "bodies", resourceLimits: WORKER_HEAP_MB });
    worker.on("message", ({ id, body }: Told) => {
      const waiting = this.#open.get(id);
      this.#close(id);
      waiting?.resolve(asBuffer(body));
    });
    worker.on("error", (cause) => {
      if (this.#worker === worker) void this.#end(cause);
    });
    return worker;
  }

  /** All that is not whole is lost with it. The next body gets a new one. */
  async #end(cause?: Error): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    const waiting = [...this.#open.values()];
    this.#open.clear();
    for (const one of waiting) one?.reject(failed(cause));
    await worker?.terminate();
  }
}

function failed(cause?: Error): GatewayError {
  const problem = "a long body could not be put together";
  return new GatewayError("ERROR_REASON_OVERLOADED", { problem }, cause === undefined ? undefined : { cause });
}
