/** What of a body asks for a service tier or for tools of the upstream's, noted in the one pass over it. */
import type { GatewayError } from "../../base/errors.js";
import { serviceTierOf } from "../../api/service-tier.js";
import { containerIn } from "./containers.js";
import type { Held } from "./held-objects.js";
import { callsMaxOf, type FoundTools, type HostedTool, roundsMaxOf } from "./hosted-tools.js";
import type { JsonCursor } from "../json/cursor.js";
import { parsed, textOf } from "../json/value.js";
import { earlierTurns, type MemberTable } from "./members.js";
import { routePreferences, type RoutePreferences } from "./route-preferences.js";
import { isSwitchedOffIn } from "./says-nothing.js";
import type { RequestFacts } from "../wire.js";

const NOTED: ReadonlySet<string> = new Set(["tier", "tool", "container", "route"]);
/** Members that let an upstream sum up what it read, and then read the sum. */
export const SUMMING_UP: ReadonlySet<string> = new Set(["context_management", "compaction"]);
type SteeringFacts = Pick<
  RequestFacts,
  | "toolCount"
  | "definedToolCount"
  | "hasDeferredTools"
  | "asksFunctions"
  | "serviceTier"
  | "container"
  | "toolCallsMax"
  | "roundsMax"
  | "route"
>;

const OPEN_ARRAY = 0x5b;
const NOWHERE = { place: undefined, callsMax: undefined, isOfferedUnasked: false, end: 0 };

export class Steering implements FoundTools {
  readonly hosted: HostedTool[] = [];
  toolCount = 0;
  definedToolCount = 0;
  hasDeferred = false;
  held: Held | undefined;
  private tier: string | undefined;
  private container: string | undefined;
  private mayBeSummedUp = false;
  private hasFunctions = false;
  private route: RoutePreferences | undefined;

  constructor(private readonly table: MemberTable) {}

  /**
   * Looks at a top-level member that was read: its value lies between `start` and where the cursor is. Returns its
   * refusal where it stands for earlier turns.
   */
  note(name: string, cursor: JsonCursor, start: number): GatewayError | undefined {
    if (SUMMING_UP.has(name)) this.mayBeSummedUp = true;
    // The older name of tools.
    if (name === "functions") {
      this.toolCount += 1;
      this.hasFunctions = cursor.bytes[start] === OPEN_ARRAY;
    }
    const rule = this.table.rules.get(name);
    const jsonOf = (): string => cursor.bytes.toString("utf8", start, cursor.at);
    const valueOf = (): unknown => parsed(jsonOf());
    if (rule === undefined || rule.kind === "earlierTurns") return earlierTurns(this.table, name, valueOf);
    if (!NOTED.has(rule.kind)) return undefined;
    const value = valueOf();
    if (value === null || value === false) return undefined;
    if (rule.kind === "route") this.route = { ...this.route, ...routePreferences(name, value) };
    if (rule.kind === "container") this.container = containerIn(value);
    if (rule.kind === "tool" && !isSwitchedOffIn(name, jsonOf()))
      this.hosted.push({ name: rule.tool, kind: "priced", param: name, isMember: true, ...NOWHERE });
    if (rule.kind === "tier" && this.tier === undefined) {
      const tier = textOf(value);
      if (serviceTierOf(tier) !== "" && !rule.ordinary.includes(tier.toLowerCase())) this.tier = tier;
    }
    return undefined;
  }

  /** How many files' worth of reading the tools may bring: what they find no one knows before. */
  get fileCount(): number {
    return this.hosted.length === 0 ? 0 : 1;
  }

  /** `callsMax` is what the client bounds all tools to together, where the wire lets it. */
  facts(callsMax?: number): SteeringFacts {
    const rounds = roundsMaxOf(this.hosted, callsMax);
    return {
      toolCount: this.toolCount,
      definedToolCount: this.definedToolCount,
      hasDeferredTools: this.hasDeferred,
      // Who knows tools as well reads them.
      asksFunctions: this.hasFunctions && this.definedToolCount === 0,
      container: this.container,
      serviceTier: this.tier,
      toolCallsMax: callsMaxOf(this.hosted, callsMax),
      route: this.route,
      roundsMax: this.mayBeSummedUp ? (rounds ?? 1) + 1 : rounds,
    };
  }
}
