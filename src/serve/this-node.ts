/** What this node is, as `tollgate nodes` and the metrics tell. */
import type { Node } from "../api/index.js";
import type { Ledger } from "../ledger/ledger.js";
import type { SettingsInForce } from "../observe/metrics.js";
import type { Routing } from "../routing/routing.js";
import type { NodeBoard } from "../rpc/core.js";

export interface NodeParts {
  readonly id: string;
  /** The version of the program. */
  readonly version: string;
  readonly startTimeMs: number;
  readonly routing: Pick<Routing, "table">;
  readonly ledger: Pick<Ledger, "lease">;
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

  /** Undefined where there is no settings file. */
  get settings(): SettingsInForce | undefined {
    return this.#settings;
  }

  list(): Promise<readonly Node[]> {
    return Promise.resolve([this.show()]);
  }

  show(): Node {
    const { id, version, startTimeMs, routing, ledger } = this.parts;
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
      httpAddress: this.#addresses?.http ?? "",
      grpcAddress: this.#addresses?.grpc ?? "",
      modelCount: BigInt(routing.table.models.size),
    };
  }
}
