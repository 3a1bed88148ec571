/** The reverse proxies whose word on a client's address is taken. */
import { isIP } from "node:net";
import { AddressSet } from "./address-range.js";

/** An address with a port, as some proxies write it. */
const WITH_PORT = /^(?:\[([0-9A-Fa-f:.]+)\](?::\d{1,5})?|(\d+\.\d+\.\d+\.\d+):\d{1,5})$/;

export class TrustedProxies {
  readonly #blocks: AddressSet;

  /** CIDR blocks. */
  constructor(blocks: readonly string[]) {
    this.#blocks = new AddressSet(blocks);
  }

  /** True for a proxy of ours. */
  has(address: string): boolean {
    return this.#blocks.has(address);
  }

  /**
   * The client behind the proxies: from the connection's own end, each proxy of ours is believed about who connected to
   * it, which `X-Forwarded-For` names from right to left. What a stranger wrote there stands further left and is never
   * reached. Empty where a proxy names something that is no address.
   */
  clientOf(peer: string, forwardedFor: string | undefined): string {
    if (forwardedFor === undefined || forwardedFor === "") return peer;
    let client = peer;
    for (let end = forwardedFor.length; end > 0 && this.has(client);) {
      const comma = forwardedFor.lastIndexOf(",", end - 1);
      client = addressOf(forwardedFor.slice(comma + 1, end).trim());
      end = comma;
    }
    return client;
  }
}

function addressOf(text: string): string {
  const match = WITH_PORT.exec(text);
  const address = match?.[1] ?? match?.[2] ?? text;
  return isIP(address) === 0 ? "" : address;
}
