/** Addresses that a key may be used from: CIDR blocks of IPv4 and IPv6. */
import { BlockList, isIP, SocketAddress } from "node:net";

interface Block {
  readonly family: "ipv4" | "ipv6";
  readonly address: string;
  readonly prefix: number;
}

const MAPPED = "::ffff:";
const MAPPED_PREFIX = 96;

/** True for a CIDR block such as 10.0.0.0/8, or one bare address. */
export function isAddressBlock(text: string): boolean {
  return blockOf(text) !== undefined;
}

/** A set of blocks. IPv4 and IPv6 are kept apart, because `::/0` is no permission for IPv4. */
export class AddressSet {
  readonly #ipv4 = new BlockList();
  readonly #ipv6 = new BlockList();
  readonly #prefixes: Record<Block["family"], number[]> = { ipv4: [], ipv6: [] };

  /** Blocks that are none are left out: a set never lets in more than it says. */
  constructor(blocks: readonly string[]) {
    for (const text of blocks) {
      const block = blockOf(text);
      if (block === undefined) continue;
      const list = block.family === "ipv4" ? this.#ipv4 : this.#ipv6;
      list.addSubnet(block.address, block.prefix, block.family);
      this.#prefixes[block.family].push(block.prefix);
    }
  }

  /** True where this set is of one block, and all of the other block lies in it. */
  covers(text: string): boolean {
    const block = blockOf(text);
    if (block === undefined) return false;
    const [prefix, other] = this.#prefixes[block.family];
    if (prefix === undefined || other !== undefined || prefix > block.prefix) return false;
    return (block.family === "ipv4" ? this.#ipv4 : this.#ipv6).check(block.address, block.family);
  }

  /**
   * True where the address, an IP literal, lies in a block. IPv4 in IPv6, as a dual-stack socket shows it, counts as
   * IPv4.
   */
  has(address: string): boolean {
    const block = blockOf(withoutZone(address));
    if (block === undefined || address.includes("/")) return false;
    return block.family === "ipv4" ? this.#ipv4.check(block.address, "ipv4") : this.#ipv6.check(block.address, "ipv6");
  }
}

/** `fe80::1%eth0` as `fe80::1`: which interface it came in by is no part of a permission. */
function withoutZone(address: string): string {
  const at = address.indexOf("%");
  return at === -1 ? address : address.slice(0, at);
}

function blockOf(text: string): Block | undefined {
  const slash = text.indexOf("/");
  const address = slash === -1 ? text : text.slice(0, slash);
  const version = address.includes("%") ? 0 : isIP(address);
  if (version === 0) return undefined;
  const prefixMax = version === 4 ? 32 : 128;
  const digits = slash === -1 ? String(prefixMax) : text.slice(slash + 1);
  if (!/^(?:0|[1-9]\d{0,2})$/.test(digits) || Number(digits) > prefixMax) return undefined;
  const prefix = Number(digits);
  if (version === 4) return { family: "ipv4", address, prefix };
  // The platform writes every spelling of a mapped address in one way.
  const canonical = new SocketAddress({ address, family: "ipv6" }).address;
  if (prefix >= MAPPED_PREFIX && canonical.startsWith(MAPPED) && canonical.includes("."))
    return { family: "ipv4", address: canonical.slice(MAPPED.length), prefix: prefix - MAPPED_PREFIX };
  return { family: "ipv6", address: canonical, prefix };
}
