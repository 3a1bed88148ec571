/** The other side of `owned.ts`: what the workers of one machine share, in the process that they ask. */
import { GatewayError } from "../base/errors.js";
import { whenReady } from "../base/when-ready.js";
import type { AdmissionRequest, AdmissionResult, Admitted, Demand } from "./coordination.js";
import type { InProcessCoordination } from "./in-process.js";
import { TOLD } from "./owned.js";
import { RelayPieces } from "./owned-relays.js";

/** A worker that is there. */
export interface Worker {
  tell(name: string, ...args: readonly unknown[]): void;
}

/** A worker that lives hears at once. One that is suspended hears later, and the change is told as pending. */
const HEAR_MS = 2_000;

interface Slot {
  readonly subject: string;
  readonly requestId: string;
}

export class OwnerCoordination {
  readonly #coordination: InProcessCoordination;
  /** The slots that each worker's requests have, which end with it. */
  readonly #workers = new Map<Worker, Map<string, Slot>>();
  /** Who has not heard of a change yet, by its turn. */
  readonly #unheard = new Map<number, { readonly workers: Set<Worker>; readonly heard: () => void }>();
  readonly #pieces = new RelayPieces(() => performance.now());
  #turns = 0;

  constructor(coordination: InProcessCoordination) {
    this.#coordination = coordination;
  }

  came(worker: Worker): void {
    this.#workers.set(worker, new Map());
    this.#tellCount();
  }

  /** Its process ended, and what it ran with it. */
  left(worker: Worker): void {
    for (const { subject, requestId } of this.#workers.get(worker)?.values() ?? [])
      this.#coordination.release("", subject, requestId);
    this.#workers.delete(worker);
    for (const turn of this.#unheard.keys()) this.#heard(turn, worker);
    this.#tellCount();
  }

  /** Answers a question of a worker. */
  answer(name: string, args: readonly unknown[], worker: Worker): unknown {
    // Whoever asks is `owned.ts`, of the same build.
    const [one, two, three] = args;
    switch (name) {
      case "admit":
        return this.#admit(one as AdmissionRequest, worker);
      case "peek":
        return this.#coordination.peek(one as AdmissionRequest);
      case "correct":
        return this.#correct(...(args as readonly [string, string, Admitted, number, number]));
      case "release":
        return this.#release(String(one), String(two), String(three), worker);
      case "publishRevision":
        return this.#publishRevision(String(one), worker);
      case "heard":
        return this.#heard(Number(one), worker);
      case "publishCoolDown":
        return this.#tellOthers(worker, TOLD.coolDown, one);
      case "publishOrder":
        return this.#tellOthers(worker, TOLD.order, one);
      case "relay":
        return this.#tellOthers(worker, TOLD.relay, ...args);
      case "writePiece":
        return this.#pieces.write(String(one), Number(two), String(three));
      case "readPieces":
        return this.#pieces.read(String(one), Number(two));
      default:
        throw new GatewayError("ERROR_REASON_INTERNAL");
    }
  }

  close(): Promise<void> {
    return this.#coordination.close();
  }

  #admit(request: AdmissionRequest, worker: Worker): AdmissionResult | Promise<AdmissionResult> {
    return whenReady(this.#coordination.admit(request), (result) => this.#noted(request, result, worker));
  }

  #noted(
    { requestId, first = [], demands }: AdmissionRequest,
    result: AdmissionResult,
    worker: Worker,
  ): AdmissionResult {
    const slots = this.#workers.get(worker);
    const note = ({ subject, limits }: Demand): void => {
      if (limits.concurrency > 0) slots?.set(nameOf(subject, requestId), { subject, requestId });
    };
    if (result.admitted || result.firstTaken) first.forEach(note);
    if (result.admitted) demands.forEach(note);
    return result;
  }

  #correct(accountId: string, subject: string, admitted: Admitted, reserved: number, used: number): void {
    this.#coordination.correct(accountId, subject, admitted, reserved, used);
  }

  #release(accountId: string, subject: string, requestId: string, worker: Worker): void {
    this.#workers.get(worker)?.delete(nameOf(subject, requestId));
    this.#coordination.release(accountId, subject, requestId);
  }

  /** Resolves once every other worker has heard of it, or has ended. */
  async #publishRevision(name: string, from: Worker): Promise<void> {
    const others = new Set([...this.#workers.keys()].filter((worker) => worker !== from));
    if (others.size === 0) return;
    this.#turns += 1;
    const turn = this.#turns;
    let timer: NodeJS.Timeout | undefined;
    try {
      await new Promise<void>((resolve, reject) => {
        timer = setTimeout(() => reject(new Error("a worker does not answer")), HEAR_MS);
        this.#unheard.set(turn, { workers: others, heard: resolve });
        for (const other of others) other.tell(TOLD.revision, turn, name);
      });
    } finally {
      clearTimeout(timer);
      this.#unheard.delete(turn);
    }
  }

  #heard(turn: number, worker: Worker): void {
    const waiting = this.#unheard.get(turn);
    if (waiting === undefined) return;
    waiting.workers.delete(worker);
    if (waiting.workers.size === 0) waiting.heard();
  }

  #tellOthers(worker: Worker, name: string, ...what: readonly unknown[]): void {
    for (const other of this.#workers.keys()) if (other !== worker) other.tell(name, ...what);
  }

  #tellCount(): void {
    for (const worker of this.#workers.keys()) worker.tell(TOLD.workers, this.#workers.size);
  }
}

function nameOf(subject: string, requestId: string): string {
  return `${requestId} ${subject}`;
}
