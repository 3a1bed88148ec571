/** What this node is, as `tollgate nodes` and the metrics tell. */
import { Node } from "../api/index.js";
import type { Clock } from "../clock/clock.js";
import type { Ledger } from "../ledger/ledger.js";
import type { SettingsInForce } from "../observe/metrics.js";
import { shownEjection } from "../routing/catalog.js";
import type { Routing } from "../routing/routing.js";
import type { NodeBoard } from "../rpc/call/core.js";
import type { NodeNotes } from "../store/postgres/nodes.js";

export interface NodeParts {
  /** Where the nodes of one database tell what they are; undefined where this one is alone. */
  readonly notes: NodeNotes | undefined;
  /** The version of the program. */
  readonly version: string;
  readonly startTimeMs: number;
  readonly routing: Pick<Routing, "table" | "nowMs">;
  readonly ledger: Pick<Ledger, "lease">;
  readonly clock: Pick<Clock, "skewMs">;
}

export class ThisNode implements NodeBoard {
  #settings: SettingsInForce | undefined;
  #fileVersion = "";
  #isReloadRefused = false;
  #addresses: { readonly http: string | undefined; readonly grpc: string | undefined } | undefined;

  constructor(private readonly parts: NodeParts) {}

  /** The settings that are in force from now on. */
  accepted(version: string, acceptTimeMs: number): void {
    this.#settings = { version, acceptTimeMs };
    this.#fileVersion = version;
    this.#isReloadRefused = false;
  }

  /** A changed settings file was refused. */
  refused(): void {
    this.#isReloadRefused = true;
  }

  /** True where no file was accepted since one was refused. */
  get isReloadRefused(): boolean {
    return this.#isReloadRefused;
  }

  /** Where it listens, once it does. */
  listens(addresses: { readonly http: string | undefined; readonly grpc: string | undefined }): void {
    this.#addresses = addresses;
  }

  /** Undefined before it listens, and where it serves no HTTP. */
  get httpAddress(): string | undefined {
    return this.#addresses?.http;
  }

  /** Undefined where there is no settings file. */
  get settings(): SettingsInForce | undefined {
    return this.#settings;
  }

  /** This one as it is, and each other that lives as it said last. */
  async list(): Promise<readonly Node[]> {
    const own = this.show();
    const { notes, ledger } = this.parts;
    if (notes === undefined) return [own];
    const told = await notes.list();
    const ages = ledger.lease.beatAges();
    const others = told.flatMap(({ nodeId, said }) => {
      const ageMs = ages.get(nodeId);
      if (nodeId === own.id || ageMs === undefined) return [];
      return [{ ...Node.decode(said), id: nodeId, answering: false, beatAgeMs: BigInt(Math.round(ageMs)) }];
    });
    return [own, ...others].sort((one, other) => (one.id < other.id ? -1 : 1));
  }

  /** Tells the other nodes what this one is. */
  async note(): Promise<void> {
    const own = this.show();
    await this.parts.notes?.note(own.id, Node.encode(own).finish());
  }

  show(): Node {
    const { version, startTimeMs, routing, ledger, clock } = this.parts;
    const id = ledger.lease.nodeId;
    const beatAgeMs = ledger.lease.beatAges().get(id) ?? 0;
    return {
      id,
      version,
      startTime: new Date(startTimeMs),
      beatAgeMs: BigInt(Math.round(beatAgeMs)),
      answering: true,
      settingsVersion: this.#settings?.version ?? "",
      settingsAcceptTime: this.#settings && new Date(this.#settings.acceptTimeMs),
      fileVersion: this.#fileVersion,
      httpAddress: this.httpAddress ?? "",
      grpcAddress: this.#addresses?.grpc ?? "",
      modelCount: BigInt(routing.table.models.size),
      clockSkewMs: BigInt(Math.round(clock.skewMs)),
      ejections: [...routing.table.upstreams.values()].flatMap((served) =>
        served.health
          .ejections(routing.nowMs())
          .map((ejection) => ({ upstream: served.id, ejection: shownEjection(ejection, id) })),
      ),
    };
  }
}
