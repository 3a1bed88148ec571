/** What carries relays between the workers of one machine: the pieces lie in the process that they ask. */
import type { AdmissionRequest, AdmissionResult } from "./coordination.js";
import type { OwnerCalls } from "./owned.js";
import { RELAY_PIECES_MAX, RELAY_TTL_MS, type RelayGround } from "./piece-relays.js";

export interface OwnedGroundParts {
  readonly nodeId: string;
  readonly owner: OwnerCalls;
  readonly admit: (request: AdmissionRequest) => Promise<AdmissionResult>;
  readonly release: (accountId: string, subject: string, requestId: string) => void;
}

export function ownedGround({ nodeId, owner, admit, release }: OwnedGroundParts): RelayGround {
  // Where the owner is gone, its workers end.
  const failed = (answer: () => void) => (): void => answer();
  const tell = (to: string, message: string): void => owner.tell("relay", [to, nodeId, message]);
  return {
    nodeId,
    monotonicMs: () => performance.now(),
    isWell: () => true,
    write: ({ relayId }, number, piece, to, answer) => {
      owner.call("writePiece", [relayId, number, piece]).then((isThere) => {
        if (isThere === true) tell(to, `d ${relayId}`);
        answer(isThere === true);
      }, failed(answer));
    },
    read: ({ relayId }, from, to, answer) => {
      owner.call("readPieces", [relayId, from]).then((told) => {
        const { pieces, hasRoom } = told as PiecesRead;
        if (hasRoom) tell(to, `r ${relayId}`);
        answer(pieces);
      }, failed(answer));
    },
    tell,
    ask: (message) => tell("", message),
    admit,
    release,
  };
}

interface PiecesRead {
  readonly pieces: readonly string[];
  /** True where some were taken away. */
  readonly hasRoom: boolean;
}

interface Lying {
  readonly pieces: Map<number, string>;
  writtenMs: number;
}

/** The pieces, in the process that owns them. */
export class RelayPieces {
  readonly #byRelay = new Map<string, Lying>();

  constructor(private readonly nowMs: () => number) {}

  get size(): number {
    return this.#byRelay.size;
  }

  /** False where there is no room. */
  write(relayId: string, number: number, piece: string): boolean {
    const nowMs = this.nowMs();
    let lying = this.#byRelay.get(relayId);
    if (lying === undefined) {
      this.#dropOld(nowMs);
      this.#byRelay.set(relayId, (lying = { pieces: new Map(), writtenMs: nowMs }));
    }
    if (!lying.pieces.has(number) && lying.pieces.size >= RELAY_PIECES_MAX) return false;
    lying.pieces.set(number, piece);
    lying.writtenMs = nowMs;
    return true;
  }

  read(relayId: string, from: number): PiecesRead {
    const lying = this.#byRelay.get(relayId);
    if (lying === undefined) return { pieces: [], hasRoom: false };
    const { pieces } = lying;
    const before = pieces.size;
    for (const number of pieces.keys()) if (number < from) pieces.delete(number);
    if (pieces.size === 0) this.#byRelay.delete(relayId);
    const found: string[] = [];
    for (let piece = pieces.get(from); piece !== undefined; piece = pieces.get(from + found.length)) found.push(piece);
    return { pieces: found, hasRoom: pieces.size < before };
  }

  /** What the worker that wrote it, or the one that read it, left behind. */
  #dropOld(nowMs: number): void {
    for (const [relayId, { writtenMs }] of this.#byRelay)
      if (nowMs - writtenMs > RELAY_TTL_MS) this.#byRelay.delete(relayId);
  }
}
