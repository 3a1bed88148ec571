/**
 * The keys of the digests of keys' secrets, and the digests that were imported, which have none. While the root secret
 * is rotated there are two: what is stored goes by the one in force, and what was stored by the other is found as well.
 */
import { createHash } from "node:crypto";
import { digestOf, importedDigestOf, isImported, type Pepper, pepperOf, shapeOf, wasMadeWith } from "./secret.js";

export interface RootSecrets {
  /** The one in force. */
  readonly rootSecret: Buffer;
  /** The one before: its digests are taken, and rewritten when they are used. */
  readonly previousSecret?: Buffer | undefined;
  /** The one that other nodes may have in force already: its digests are taken, and stay. */
  readonly nextSecret?: Buffer | undefined;
}

export class Peppers {
  readonly #current: Pepper;
  readonly #previous: Pepper | undefined;
  readonly #all: readonly Pepper[];

  constructor({ rootSecret, previousSecret, nextSecret }: RootSecrets) {
    this.#current = pepperOf(rootSecret);
    this.#previous = previousSecret && pepperOf(previousSecret);
    const next = nextSecret && pepperOf(nextSecret);
    this.#all = [this.#current, this.#previous, next].filter((pepper) => pepper !== undefined);
  }

  /** True while digests of another root secret are taken too. */
  get areTwo(): boolean {
    return this.#all.length > 1;
  }

  /** What is stored of a secret. */
  digestOf(secret: string): Buffer {
    return digestOf(this.#current, secret);
  }

  /** All that may be stored of a secret, in the order in which to look for them. */
  digestsOf(secret: string): Buffer[] {
    const digests = this.#all.map((pepper) => digestOf(pepper, secret));
    const isForeign = shapeOf(secret) === "foreign";
    if (isForeign) digests.push(importedDigestOf(createHash("sha256").update(secret).digest()));
    // One that is replaced may be rewritten between the look at the first digest and at its own.
    return isForeign || this.#previous !== undefined ? [...digests, ...digests.slice(0, 1)] : digests;
  }

  /** True for a digest that the use of its secret replaces: one of the root secret before, or an imported one. */
  isReplaced(digest: Uint8Array): boolean {
    return isImported(digest) || this.isPrevious(digest);
  }

  /** True for a digest that ends with no root secret: of the one in force, of the next, or imported. */
  stays(digest: Uint8Array): boolean {
    if (isImported(digest)) return true;
    return this.#all.some((pepper) => pepper !== this.#previous && wasMadeWith(pepper, digest));
  }

  /** True for a digest of the root secret before. */
  isPrevious(digest: Uint8Array): boolean {
    return this.#previous !== undefined && wasMadeWith(this.#previous, digest);
  }
}
