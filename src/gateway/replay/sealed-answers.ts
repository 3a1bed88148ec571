/**
 * The store of answers, as one Idempotency-Key sees it. While the root secret is rotated, a key has two seals:
 * everything is stored under both, so that nodes that know only one of the secrets find each other's answers.
 */
import type { AnswerStore, NewAnswer, StoredAnswer } from "./answer-store.js";
import { type Asker, NONCE_BYTES, opened, type Seal, sealed, sealOf } from "./seal.js";

/** An answer, and the seal that opens it. */
export interface FoundAnswer extends StoredAnswer {
  readonly seal: Seal;
}

export interface SealedParts {
  readonly store: AnswerStore;
  /** The one in force first. */
  readonly rootSecrets: readonly Buffer[];
  readonly randomBytes: (count: number) => Buffer;
}

export class SealedAnswers {
  constructor(private readonly parts: SealedParts) {}

  /** The seals of a key; the first is of the root secret in force. */
  sealsOf(asker: Asker, idempotencyKey: string): readonly Seal[] {
    return this.parts.rootSecrets.map((rootSecret) => sealOf(rootSecret, asker, idempotencyKey));
  }

  async find(seals: readonly Seal[]): Promise<FoundAnswer | undefined> {
    for (const seal of seals) {
      const stored = await this.parts.store.find(seal.id);
      if (stored !== undefined) return { ...stored, seal };
    }
    return undefined;
  }

  /** The content of the record, which must exist. */
  open({ seal }: FoundAnswer, record: Uint8Array): Buffer {
    return opened(seal, Buffer.from(record));
  }

  /** Stores an answer, or with a null record only that there is one. The record is what `open` returns. */
  async put(seals: readonly Seal[], answer: Omit<NewAnswer, "id">): Promise<void> {
    for (const seal of inOrder(seals)) {
      const record = answer.record && sealed(seal, Buffer.from(answer.record), this.parts.randomBytes(NONCE_BYTES));
      await this.parts.store.put({ ...answer, id: seal.id, record });
    }
  }

  async remove(seals: readonly Seal[]): Promise<void> {
    for (const seal of inOrder(seals)) await this.parts.store.remove(seal.id);
  }

  close(): Promise<void> {
    return this.parts.store.close();
  }
}

/** The same order on all nodes, whichever of the secrets is in force there: of two that claim a key, one is first. */
function inOrder(seals: readonly Seal[]): readonly Seal[] {
  return seals.length < 2 ? seals : [...seals].sort((one, other) => one.id.compare(other.id));
}
