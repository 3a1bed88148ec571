/**
 * The keys of the digests of keys' secrets. While the root secret is rotated there are two: what is stored goes by the
 * one in force, and what was stored by the other is found as well.
 */
import { digestOf, type Pepper, pepperOf, wasMadeWith } from "./secret.js";

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
    // One of the root secret before may be rewritten between the looks at the first and at the second.
    return this.#previous === undefined ? digests : [...digests, ...digests.slice(0, 1)];
  }

  /** True for a digest of the root secret in force, or of the next. */
  stays(digest: Uint8Array): boolean {
    return this.#all.some((pepper) => pepper !== this.#previous && wasMadeWith(pepper, digest));
  }

  /** True for a digest of the root secret before. */
  isPrevious(digest: Uint8Array): boolean {
    return this.#previous !== undefined && wasMadeWith(this.#previous, digest);
  }
}
