/** How many connections each address has, so that no one address takes them all. */
import type { Socket } from "node:net";

export class AddressCounts {
  readonly #counts = new Map<string, number>();
  readonly #max: number;
  readonly #isFree: (address: string) => boolean;

  /** `isFree` names addresses that may have any number, such as a reverse proxy's. */
  constructor(max: number, isFree: ((address: string) => boolean) | undefined) {
    this.#max = max;
    this.#isFree = isFree ?? (() => false);
  }

  /** Counts a connection until it closes. False where its address has as many as may be. */
  enter(socket: Socket): boolean {
    const address = socket.remoteAddress ?? "";
    const count = this.#counts.get(address) ?? 0;
    if (count >= this.#max && !this.#isFree(address)) return false;
    this.#counts.set(address, count + 1);
    socket.once("close", () => this.#leave(address));
    return true;
  }

  #leave(address: string): void {
    const count = this.#counts.get(address) ?? 0;
    if (count > 1) this.#counts.set(address, count - 1);
    else this.#counts.delete(address);
  }
}
