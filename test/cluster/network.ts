/**
 * A network namespace for each node, with a link of its own to the database, to Redis and to callers, so that each can
 * be cut as a cable is: what is sent is lost, and nobody is told. It needs root and `ip` of iproute2.
 */
import { spawnSync } from "node:child_process";

/** What a node talks to; each is a network of its own, the harness its first address. */
const SIDES = ["database", "redis", "callers"] as const;
export type Side = (typeof SIDES)[number];

export class Network {
  /** Told apart from those of another run. */
  readonly #tag = process.pid.toString(36).slice(-4);
  readonly #nodes: number[] = [];

  static isPossible(): boolean {
    return process.getuid?.() === 0 && spawnSync("ip", ["netns", "list"]).status === 0;
  }

  constructor() {
    for (const side of SIDES) {
      ip("link", "add", this.#bridge(side), "type", "bridge");
      ip("address", "add", `${this.host(side)}/24`, "dev", this.#bridge(side));
      ip("link", "set", this.#bridge(side), "up");
    }
  }

  /** The harness's own address on a side. */
  host(side: Side): string {
    return `10.77.${SIDES.indexOf(side) + 1}.1`;
  }

  /** The address of a node, where callers reach it. */
  address(node: number): string {
    return `10.77.${SIDES.indexOf("callers") + 1}.${node + 10}`;
  }

  /** Makes the namespace of a node; what the words it returns run is in there. */
  add(node: number): readonly string[] {
    const space = this.#space(node);
    if (!this.#nodes.includes(node)) {
      this.#nodes.push(node);
      ip("netns", "add", space);
      ip("-n", space, "link", "set", "lo", "up");
      for (const [place, side] of SIDES.entries()) {
        const link = this.#link(node, side);
        ip("link", "add", link, "type", "veth", "peer", "name", side, "netns", space);
        ip("link", "set", link, "master", this.#bridge(side), "up");
        ip("-n", space, "address", "add", `10.77.${place + 1}.${node + 10}/24`, "dev", side);
        ip("-n", space, "link", "set", side, "up");
      }
    }
    return ["ip", "netns", "exec", space];
  }

  cut(node: number, side: Side): void {
    ip("link", "set", this.#link(node, side), "down");
  }

  mend(node: number, side: Side): void {
    ip("link", "set", this.#link(node, side), "up");
  }

  close(): void {
    for (const node of this.#nodes) ip("netns", "delete", this.#space(node));
    for (const side of SIDES) ip("link", "delete", this.#bridge(side));
  }

  #space(node: number): string {
    return `tollgate-${this.#tag}-${node}`;
  }

  #bridge(side: Side): string {
    return `tg${this.#tag}${side.slice(0, 4)}`;
  }

  #link(node: number, side: Side): string {
    return `tg${this.#tag}${side.slice(0, 2)}${node}`;
  }
}

function ip(...args: readonly string[]): void {
  const { status, stderr } = spawnSync("ip", args);
  if (status !== 0) throw new Error(`ip ${args.join(" ")}: ${stderr.toString().trim()}`);
}
