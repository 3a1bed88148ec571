/** Where webhooks may lead: to public addresses, and to those networks that the operator names. */
import { BlockList, isIP, isIPv6, SocketAddress } from "node:net";

/**
 * Addresses that are no public host's: private, of this machine, of one link, shared, reserved, for groups and for
 * documents (IANA's special-purpose registries, RFC 6890).
 */
const SPECIAL_V4 = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
];
/** Of IPv6 only what is given out for the whole net is public, and of that not what documents and tunnels use. */
const GLOBAL_V6 = "2000::/3";
const SPECIAL_V6 = ["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"];

export class WebhookNetworks {
  readonly #special = blockList(SPECIAL_V4, SPECIAL_V6);
  readonly #global = blockList([], [GLOBAL_V6]);
  readonly #named: BlockList;
  /** True where the operator names a network. */
  readonly hasNamed: boolean;

  /** Blocks such as 10.0.0.0/8, as the settings checked them. */
  constructor(named: readonly string[]) {
    this.hasNamed = named.length > 0;
    this.#named = blockList(
      named.filter((block) => !block.includes(":")),
      named.filter((block) => block.includes(":")),
    );
  }

  /**
   * Why nothing may be sent to an address, an IP literal; undefined where it may. Without TLS only the operator's own
   * networks are reached: what passes through others could be read on its way.
   */
  problemOf(address: string, isSecure: boolean): string | undefined {
    const plain = unmapped(address);
    if (plain === undefined) return "its address is none";
    const family = isIPv6(plain) ? "ipv6" : "ipv4";
    if (this.#named.check(plain, family)) return undefined;
    const isPublic = !this.#special.check(plain, family) && (family === "ipv4" || this.#global.check(plain, family));
    if (!isPublic) return "its address is private, and TOLLGATE_WEBHOOK_NETWORKS does not have it";
    return isSecure ? undefined : "its address needs https://, since TOLLGATE_WEBHOOK_NETWORKS does not have it";
  }

  /** Why a URL is none for a webhook, as far as it tells by itself; undefined where it may be one. */
  problemOfUrl(text: string): string | undefined {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    if (url === undefined || !/^https?:$/.test(url.protocol)) return "must be an https:// address";
    if (url.username !== "" || url.password !== "") return "must have no user and no password";
    if (url.hash !== "") return "must have no fragment";
    const isSecure = url.protocol === "https:";
    if (!isSecure && !this.hasNamed)
      return "must begin with https://, or lead where TOLLGATE_WEBHOOK_NETWORKS allows http://";
    const host = hostOf(url);
    return isIP(host) === 0 ? undefined : this.problemOf(host, isSecure);
  }
}

/** The host of a URL, an IPv6 literal without its brackets. */
function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, "$1");
}

/** IPv4 within IPv6 as IPv4: by that spelling nobody gets past a rule. */
function unmapped(address: string): string | undefined {
  const [bare = ""] = address.split("%");
  const family = isIP(bare);
  if (family === 0) return undefined;
  if (family === 4) return bare;
  const canonical = new SocketAddress({ address: bare, family: "ipv6" }).address;
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(canonical)?.[1] ?? canonical;
}

function blockList(v4: readonly string[], v6: readonly string[]): BlockList {
  const list = new BlockList();
  const add = (block: string, family: "ipv4" | "ipv6"): void => {
    const [address = "", bits = ""] = block.split("/");
    list.addSubnet(address, Number(bits), family);
  };
  for (const block of v4) add(block, "ipv4");
  for (const block of v6) add(block, "ipv6");
  return list;
}
