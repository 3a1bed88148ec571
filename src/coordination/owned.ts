/** What the workers of one machine share: it lies in the process that owns their database, and each asks that one. */
import { randomBytes } from "node:crypto";
import type {
  AdmissionRequest,
  AdmissionResult,
  Admitted,
  CoolDown,
  Coordination,
  CoordinationState,
  Revisions,
  UpstreamOrder,
} from "./coordination.js";
import { ownedGround } from "./owned-relays.js";
import { PieceRelays } from "./piece-relays.js";

/** How the owner is asked. */
export interface OwnerCalls {
  call(name: string, args: readonly unknown[]): Promise<unknown>;
  /** Awaits no answer. */
  tell(name: string, args: readonly unknown[]): void;
  /** Hears what the owner tells all workers. */
  hear(name: string, hearer: (...args: readonly unknown[]) => void): void;
}

/** What the owner tells its workers. */
export const TOLD = {
  revision: "revision",
  coolDown: "coolDown",
  order: "order",
  workers: "workers",
  relay: "relay",
} as const;

/** How often a worker looks after what it reads of another. */
const TICK_MS = 500;

export function createOwnedCoordination(owner: OwnerCalls): Coordination {
  return new Owned(owner);
}

class Owned implements Coordination {
  /** A change was heard of by every worker before it is answered: no request need compare anything. */
  readonly isShared = false;
  readonly relays: PieceRelays;
  readonly #nodeId = randomBytes(9).toString("base64url");
  readonly #timer: NodeJS.Timeout;
  readonly #callbacks: ((name: string) => void)[] = [];
  readonly #coolDownCallbacks: ((coolDown: CoolDown) => void)[] = [];
  readonly #orderCallbacks: ((order: UpstreamOrder) => void)[] = [];
  #nodeCount = 1;

  constructor(private readonly owner: OwnerCalls) {
    owner.hear(TOLD.revision, (turn, name) => {
      this.#heard(String(name));
      owner.tell("heard", [turn]);
    });
    // The owner passes on what another worker said.
    owner.hear(TOLD.coolDown, (coolDown) => {
      for (const callback of this.#coolDownCallbacks) callback(coolDown as CoolDown);
    });
    this.relays = new PieceRelays(
      ownedGround({
        nodeId: this.#nodeId,
        owner,
        admit: (request) => this.admit(request),
        release: (accountId, subject, requestId) => this.release(accountId, subject, requestId),
      }),
    );
    owner.hear(TOLD.relay, (to, from, message) => {
      if (to === "") this.relays.asked(String(from), String(message));
      else if (to === this.#nodeId) this.relays.noticed(String(from), String(message));
    });
    this.#timer = setInterval(() => this.relays.tick(), TICK_MS).unref();
    owner.hear(TOLD.order, (order) => {
      for (const callback of this.#orderCallbacks) callback(order as UpstreamOrder);
    });
    owner.hear(TOLD.workers, (count) => (this.#nodeCount = Number(count)));
  }

  state(): CoordinationState {
    return { driver: "workers", degraded: undefined, nodeCount: this.#nodeCount };
  }

  admit(request: AdmissionRequest): Promise<AdmissionResult> {
    // The owner answers as this interface says.
    return this.owner.call("admit", [request]) as Promise<AdmissionResult>;
  }

  peek(request: AdmissionRequest): Promise<AdmissionResult> {
    return this.owner.call("peek", [request]) as Promise<AdmissionResult>;
  }

  correct(accountId: string, subject: string, admitted: Admitted, reserved: number, used: number): void {
    this.owner.tell("correct", [accountId, subject, admitted, reserved, used]);
  }

  release(accountId: string, subject: string, requestId: string): void {
    this.owner.tell("release", [accountId, subject, requestId]);
  }

  revisionsOf(): Promise<Revisions | undefined> {
    return Promise.resolve(undefined);
  }

  async publishRevision(_accountId: string, name: string): Promise<void> {
    this.#heard(name);
    await this.owner.call("publishRevision", [name]);
  }

  onRevision(callback: (name: string) => void): void {
    this.#callbacks.push(callback);
  }

  publishCoolDown(coolDown: CoolDown): void {
    this.owner.tell("publishCoolDown", [coolDown]);
  }

  onCoolDown(callback: (coolDown: CoolDown) => void): void {
    this.#coolDownCallbacks.push(callback);
  }

  publishOrder(order: UpstreamOrder): void {
    this.owner.tell("publishOrder", [order]);
  }

  onOrder(callback: (order: UpstreamOrder) => void): void {
    this.#orderCallbacks.push(callback);
  }

  close(): Promise<void> {
    clearInterval(this.#timer);
    this.relays.close();
    return Promise.resolve();
  }

  #heard(name: string): void {
    for (const callback of this.#callbacks) callback(name);
  }
}
