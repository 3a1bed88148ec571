/** What a request may ask of a target, by the price of its model and the settings of its upstream. */
import { serviceTierOf } from "../api/service-tier.js";
import { hasServiceTier, isFree, priceOfTool } from "../pricing/rates.js";
import type { Permits } from "../wire/request/member-gate.js";
import type { MemberTerms } from "../wire/wire.js";
import type { ServedModel, Target } from "./model.js";

const NAMES_MAX = 1_000;
/** A new SDK brings a few names; whoever brings more makes them up, and would leave no room for those of others. */
const NAMES_OF_ACCOUNT_MAX = 32;
/** A client may write a name of megabytes, which would be hashed, logged and sent between threads. */
const NAME_CHARACTERS_MAX = 100;

/** Counts the members that no table knows, each by its upstream and its name. */
export class UnknownMembers {
  readonly #seen = new Set<string>();
  /** How many of them each account was the first to send. */
  readonly #brought = new Map<string, number>();

  /**
   * `onSeen` is told of each sight. Beyond a thousand names, and what one account may bring of them, all others go by
   * one, so that clients can make no more.
   */
  constructor(private readonly onSeen: (upstream: string, name: string, isFirst: boolean) => void) {}

  see(accountId: string, upstream: string, name: string): void {
    const place = `${upstream} ${name}`;
    if (this.#seen.has(place)) return this.onSeen(upstream, name, false);
    const brought = this.#brought.get(accountId) ?? 0;
    if (this.#seen.size >= NAMES_MAX || brought >= NAMES_OF_ACCOUNT_MAX)
      return this.onSeen(upstream, "(others)", false);
    this.#seen.add(place);
    this.#brought.set(accountId, brought + 1);
    this.onSeen(upstream, name, true);
  }
}

/** What of a target decides, as it can cross to another thread. */
export function termsOf(
  { knownMembersOnly, refusesAddresses }: Pick<Target, "knownMembersOnly" | "refusesAddresses">,
  { price, hostedTools }: Pick<ServedModel, "price" | "hostedTools">,
  containers: readonly string[],
): MemberTerms {
  return { knownMembersOnly, refusesAddresses, price, hostedTools, containers };
}

export class TargetPermits implements Permits {
  /** `onUnknown` takes the members that no table knows; absent where nothing will be sent. */
  constructor(
    readonly terms: MemberTerms,
    private readonly onUnknown?: (name: string) => void,
  ) {}

  get refusesAddresses(): boolean {
    return this.terms.refusesAddresses === true;
  }

  tool(name: string): "priced" | "free" | "unpriced" {
    if (priceOfTool(this.terms.price, name) !== undefined) return "priced";
    return isFree(this.terms.price) ? "free" : "unpriced";
  }

  get leavesOut(): Permits["leavesOut"] {
    const { hostedTools, knownMembersOnly } = this.terms;
    if (hostedTools !== "drop") return undefined;
    return ({ name, kind }, isForeign) => {
      if (isForeign) return kind !== "unknown";
      return kind === "unknown" ? knownMembersOnly : kind === "priced" && this.tool(name) === "unpriced";
    };
  }

  tier(name: string): "priced" | "ordinary" | "unpriced" {
    if (serviceTierOf(name) === "" || isFree(this.terms.price)) return "ordinary";
    return hasServiceTier(this.terms.price, name) ? "priced" : "unpriced";
  }

  holds(container: string): boolean {
    return this.terms.containers.includes(container);
  }

  passes(name: string): boolean {
    this.onUnknown?.(name.slice(0, NAME_CHARACTERS_MAX));
    return !this.terms.knownMembersOnly;
  }
}
