/** The matrix: a real gateway over strict upstreams, and each feature asked by each client of each of them. */
import { isDeepStrictEqual } from "node:util";
import { type FakeGoogleToken, startFakeGoogleToken } from "../support/fake-google-token.js";
import { AWS_REGION } from "../support/fake-bedrock.js";
import { startGateway, type GatewayProcess } from "../support/gateway-process.js";
import { Management } from "../support/management.js";
import type { Client } from "./clients/client.js";
import { comparableSeen, comparableTold, documentedRefusal, wantedSeen, wantedTold } from "./expectation.js";
import type { Feature, Say, Seen, Told } from "./scenario.js";
import { followers, type Target, targetFor, targets } from "./targets.js";
import { type ScriptedUpstream, SECRET, type Speaker, startScriptedUpstream } from "./upstreams/scripted-upstream.js";

export interface Cell {
  readonly client: Client;
  readonly target: Target;
  readonly feature: Feature;
  readonly isStream: boolean;
}

/** What came of a cell: what both ends understood beside what they must have, or that it was refused. */
export type Outcome =
  | { readonly kind: "answered"; readonly got: readonly Turn[]; readonly wanted: readonly Turn[] }
  | { readonly kind: "refused"; readonly param: string };

export interface Turn {
  readonly told: Told;
  readonly seen: Partial<Seen> | undefined;
}

const CELLS_AT_ONCE = 8;

export class Matrix {
  private readonly outcomes = new Map<string, Promise<Outcome>>();

  private constructor(
    readonly gateway: GatewayProcess,
    readonly management: Management,
    private readonly secret: string,
    private readonly upstreams: ReadonlyMap<Target, ScriptedUpstream>,
    private readonly tokens: FakeGoogleToken,
  ) {}

  static async start(): Promise<Matrix> {
    const upstreams = new Map<Target, ScriptedUpstream>();
    for (const target of [...targets, ...followers])
      upstreams.set(target, await startScriptedUpstream((url) => speakerOf(target, url)));
    const tokens = await startFakeGoogleToken();
    const gateway = await startGateway({ settings: settingsOver(upstreams, tokens), env: { AWS_REGION } });
    const management = new Management(gateway);
    await management.account("acme", 1_000_000_000_000n);
    const { secret } = await management.makeKey("acme");
    return new Matrix(gateway, management, secret, upstreams, tokens);
  }

  async close(): Promise<void> {
    await this.gateway.stop();
    for (const upstream of this.upstreams.values()) await upstream.close();
    await this.tokens.close();
  }

  /** Runs cells, some at once, since most of each is waiting. */
  async runAll(cells: readonly Cell[]): Promise<void> {
    const queue = cells.values();
    const work = async (): Promise<void> => {
      // Each cell's own test tells what went wrong.
      for (const cell of queue) await this.outcome(cell).catch(() => {});
    };
    await Promise.all(Array.from({ length: CELLS_AT_ONCE }, work));
  }

  /** Runs a cell, once however often it is asked for. */
  outcome(cell: Cell): Promise<Outcome> {
    const name = nameOf(cell);
    const known = this.outcomes.get(name);
    if (known !== undefined) return known;
    const outcome = this.run(cell, `cell-${this.outcomes.size + 1}`);
    this.outcomes.set(name, outcome);
    return outcome;
  }

  private async run({ client, target: family, feature, isStream }: Cell, id: string): Promise<Outcome> {
    const { settings, turns } = feature;
    const upstream = this.upstreams.get(family)!;
    const target = targetFor(family, client);
    const mayBeRefused = documentedRefusal(client, target, feature) !== undefined;
    upstream.plan(
      id,
      turns.map(({ reply }) => reply),
    );
    // The first words name the script.
    const says = turns.map(({ say }, place): Say => (place === 0 ? { ...say, text: `${id}: ${say.text ?? ""}` } : say));
    const model = modelOf(target, settings.thinks === true ? "thinking" : "plain");
    const talk = client.open({ url: this.gateway.url, secret: this.secret, model, isStream, settings });
    const got: Turn[] = [];
    const wanted: Turn[] = [];
    for (const [place, say] of says.entries()) {
      let told: Told;
      try {
        told = comparableTold(await talk.say(say));
      } catch (error) {
        const param = refusedParam(error);
        const refusals = upstream.refusals.filter(({ cell }) => cell === id).map(({ problem }) => problem);
        if (param === undefined || (refusals.length > 0 && !mayBeRefused))
          throw new Error(`turn ${place + 1} failed: ${String(error)} ${refusals.join("; ")}`, { cause: error });
        return { kind: "refused", param };
      }
      const wantedOfUpstream = wantedSeen(feature, place, says, client, target);
      const seen = upstream.seen(id)[place];
      got.push({ told, seen: seen && comparableSeen(seen, wantedOfUpstream, target) });
      const want = wantedTold(turns[place]!.reply, client, target);
      // A client that is not told how much was reasoning says nothing of it.
      const tokens = told.tokens.reasoning === undefined ? { ...want.tokens, reasoning: undefined } : want.tokens;
      wanted.push({ told: { ...want, tokens }, seen: wantedOfUpstream });
    }
    return { kind: "answered", got, wanted };
  }
}

/** What the page says of a cell. */
export async function verdictOf(matrix: Matrix, cell: Cell): Promise<string> {
  try {
    const outcome = await matrix.outcome(cell);
    if (outcome.kind === "refused") return `400 ${outcome.param}`;
    return isDeepStrictEqual(outcome.got, outcome.wanted) ? "pass" : "FAIL";
  } catch {
    return "FAIL";
  }
}

export function nameOf({ client, target, feature, isStream }: Cell): string {
  return `${client.name} on ${target.family}, ${isStream ? "streamed" : "whole"}: ${feature.name}`;
}

/** Who answers on a path of the upstream's. */
function speakerOf({ speaker, inTurn }: Target, url: string): Speaker {
  return url.endsWith("/responses") && inTurn?.speaker !== undefined ? inTurn.speaker : speaker;
}

function modelOf({ family }: Target, kind: keyof Target["models"]): string {
  return `${family}-${kind}`;
}

function settingsOver(upstreams: ReadonlyMap<Target, ScriptedUpstream>, tokens: FakeGoogleToken): string {
  const served = [...upstreams];
  const keyOf = ({ apiKey }: Target): string => JSON.stringify(apiKey?.(tokens) ?? SECRET);
  const limits = 'context_tokens: 100000, output_tokens_max: 8000, price: { input: "0.01", output: "0.1" }';
  return [
    "upstreams:",
    ...served.map(
      ([target, { url }]) =>
        `  up-${target.family}: { family: ${target.family}, base_url: "${url}${target.basePath}", api_key: ${keyOf(target)} }`,
    ),
    "models:",
    ...served.flatMap(([target]) =>
      (["plain", "thinking"] as const).map((kind) => {
        const to = `{ upstream: up-${target.family}, model: "${target.models[kind]}" }`;
        return `  ${modelOf(target, kind)}: { targets: [${to}], ${limits} }`;
      }),
    ),
    "",
  ].join("\n");
}

/** The parameter that a refusal with 400 names, in whichever envelope; undefined where it is no such refusal. */
export function refusedParam(error: unknown): string | undefined {
  const fields = Object(error) as Readonly<Record<string, unknown>>;
  if ((fields["status"] ?? fields["statusCode"]) !== 400) return undefined;
  const told = [JSON.stringify(fields["error"] ?? ""), fields["responseBody"], fields["message"]].join(" ");
  return /"(?:param|field)"\s*:\s*"([^"]+)"/.exec(told.replaceAll('\\"', '"'))?.[1];
}
