/** How a node sends a kept answer to another node: frames in a stream of bytes, which is sent in sealed pieces. */
import { hkdfSync } from "node:crypto";
import { asBuffer } from "../../base/bytes/bytes.js";
import { GatheredBytes } from "../../base/bytes/gathered-bytes.js";
import { GatewayError, type ReasonName, REASONS } from "../../base/errors.js";
import { opened, type Seal, sealed } from "./seal.js";

/** The client's own request, the headers of its answer, one message of it, and how it ended. */
export type FrameKind = "source" | "head" | "data" | "end";

const KINDS: readonly FrameKind[] = ["source", "head", "data", "end"];
const HEAD_BYTES = 5;
const PIECE_BYTES_MAX = 65_536;
/** Above this the writer waits for the reader. */
const BEHIND_BYTES_MAX = 262_144;
const NO_ID = Buffer.alloc(0);

/** Seals what is sent between nodes. Every node with the root secret can open it. */
export class RelaySeal {
  readonly #seals: readonly Seal[];

  /** The secret in force first. */
  constructor(
    rootSecrets: readonly Buffer[],
    private readonly randomNonce: () => Buffer,
  ) {
    this.#seals = rootSecrets.map((rootSecret) => ({
      id: NO_ID,
      secret: Buffer.from(hkdfSync("sha256", rootSecret, "", "tollgate relay", 32)),
    }));
  }

  seal(plain: Buffer): Buffer {
    const [seal] = this.#seals;
    if (seal === undefined) throw new Error("there is no root secret");
    return sealed(seal, plain, this.randomNonce());
  }

  /** Undefined if no node of this installation sealed it. */
  open(bytes: Buffer): Buffer | undefined {
    for (const seal of this.#seals) {
      try {
        return opened(seal, bytes);
      } catch {
        // While the secret is rotated it may be the other one.
      }
    }
    return undefined;
  }
}

/** Frames that wait to be sent, cut into pieces. */
export class FrameWriter {
  readonly #waiting = new GatheredBytes();

  write(kind: FrameKind, bytes: Uint8Array): void {
    const head = Buffer.alloc(HEAD_BYTES);
    head.writeUInt8(KINDS.indexOf(kind), 0);
    head.writeUInt32BE(bytes.length, 1);
    this.#waiting.add(head);
    this.#waiting.add(asBuffer(bytes));
  }

  /** True if no more should be written for now. */
  get isBehind(): boolean {
    return this.#waiting.length >= BEHIND_BYTES_MAX;
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  /** Takes the next piece. */
  take(): Buffer | undefined {
    if (this.isEmpty) return undefined;
    const all = this.#waiting.take();
    this.#waiting.add(all.subarray(PIECE_BYTES_MAX));
    return all.subarray(0, PIECE_BYTES_MAX);
  }
}

/** Joins pieces again. */
export class FrameReader {
  #bytes: Buffer = NO_ID;

  constructor(private readonly onFrame: (kind: FrameKind, bytes: Buffer) => void) {}

  read(piece: Buffer): void {
    this.#bytes = this.#bytes.length === 0 ? piece : Buffer.concat([this.#bytes, piece]);
    while (this.#bytes.length >= HEAD_BYTES) {
      const kind = KINDS[this.#bytes.readUInt8(0)];
      const end = HEAD_BYTES + this.#bytes.readUInt32BE(1);
      if (kind === undefined) throw new Error("another node sent a frame of unknown kind");
      if (this.#bytes.length < end) return;
      const bytes = this.#bytes.subarray(HEAD_BYTES, end);
      this.#bytes = this.#bytes.subarray(end);
      this.onFrame(kind, bytes);
    }
  }
}

export function writeError(error: GatewayError | undefined): Buffer {
  const told = error === undefined ? {} : { reason: error.reason, metadata: error.metadata };
  return Buffer.from(JSON.stringify(told));
}

export function readError(bytes: Buffer): GatewayError | undefined {
  const { reason, metadata } = JSON.parse(bytes.toString()) as {
    readonly reason?: string;
    readonly metadata?: Readonly<Record<string, string>>;
  };
  if (reason === undefined) return undefined;
  // A newer node may know more reasons than this one.
  const known = reason in REASONS ? (reason as ReasonName) : "ERROR_REASON_INTERNAL";
  return new GatewayError(known, metadata);
}
