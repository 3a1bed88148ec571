/**
 * What one node reads of another, through what they share: in numbered pieces, of which few lie there at a time. A
 * piece that is sent twice is one, and what was read is asked for again where its answer was lost.
 */
import type { RelayInlet, RelayOutlet, RelayReader, Relays, RelayWriter } from "../api/relays.js";
import type { AdmissionRequest, AdmissionResult } from "./coordination.js";

/** So many pieces of one relay lie in Redis at most. */
export const RELAY_PIECES_MAX = 8;
/** An account reads so much at once in this way, over all nodes. */
const RELAYS_MAX = 16;
/** How long a piece that nobody reads lies there at most. */
export const RELAY_TTL_MS = 30_000;
/** How long a question waits for who has it. */
const UNANSWERED_MS = 2_000;
/** How often each side says that it is there, and after how long of silence the other one leaves. */
const BEAT_MS = 5_000;
const SILENT_MS = 15_000;

/** Whose places are those of relays: no key and no account is called so. */
const SUBJECT = "relays of";
const PLACES = { requestsPerMinute: 0, tokensPerMinute: 0, concurrency: RELAYS_MAX };

/** Which relay it is. */
export interface RelayName {
  readonly accountId: string;
  readonly relayId: string;
}

/** What relays need of the driver. */
export interface RelayGround {
  readonly nodeId: string;
  readonly monotonicMs: () => number;
  isWell(): boolean;
  /** Lays a piece down unless there is no room, and tells the other node; undefined where nobody knows. */
  write(name: RelayName, number: number, piece: string, nodeId: string, answer: (isThere?: boolean) => void): void;
  /** Takes away what comes before a number, tells the other node where that makes room, and reads on from there. */
  read(name: RelayName, from: number, nodeId: string, answer: (pieces?: readonly unknown[]) => void): void;
  tell(nodeId: string, message: string): void;
  /** Tells all other nodes what is asked. */
  ask(message: string): void;
  admit(request: AdmissionRequest): AdmissionResult | Promise<AdmissionResult>;
  release(accountId: string, subject: string, requestId: string): void;
}

interface RelayRequest {
  readonly relay: string;
  readonly account: string;
  readonly question: string;
}

export class PieceRelays implements Relays {
  readonly #ground: RelayGround;
  readonly #inlets = new Map<string, Inlet>();
  readonly #outlets = new Map<string, Outlet>();
  readonly #callbacks: Parameters<Relays["onAsked"]>[0][] = [];
  #count = 0;

  constructor(ground: RelayGround) {
    this.#ground = ground;
  }

  async ask(accountId: string, question: Buffer, reader: RelayReader): Promise<RelayInlet | undefined> {
    const ground = this.#ground;
    const relayId = `${ground.nodeId}${(this.#count++).toString(36)}`;
    if (!ground.isWell()) return undefined;
    const demands = [{ subject: `${SUBJECT} ${accountId}`, limits: PLACES, tokens: 0 }];
    const { admitted, degraded } = await ground.admit({ requestId: relayId, accountId, demands });
    if (!admitted || degraded === true) return undefined;
    const asked: RelayRequest = { relay: relayId, account: accountId, question: question.toString("base64") };
    const inlet = new Inlet(ground, { accountId, relayId }, JSON.stringify(asked), reader, () => {
      this.#inlets.delete(relayId);
      ground.release(accountId, `${SUBJECT} ${accountId}`, relayId);
    });
    this.#inlets.set(relayId, inlet);
    return inlet;
  }

  onAsked(callback: Parameters<Relays["onAsked"]>[0]): void {
    this.#callbacks.push(callback);
  }

  /** Another node asks. */
  asked(nodeId: string, told: string): void {
    const asked = parseRelayRequest(told);
    if (asked === undefined) return;
    const { relay, account } = asked;
    const known = this.#outlets.get(relay);
    if (known !== undefined) {
      // Who asked has not heard of it.
      known.beat();
      return;
    }
    const accept = (writer: RelayWriter): RelayOutlet => {
      const name = { accountId: account, relayId: relay };
      const outlet = new Outlet(this.#ground, name, nodeId, writer, () => this.#outlets.delete(relay));
      this.#outlets.set(relay, outlet);
      outlet.beat();
      return outlet;
    };
    for (const callback of this.#callbacks) callback(Buffer.from(asked.question, "base64"), accept);
  }

  /** Another node says something of a relay. */
  noticed(nodeId: string, told: string): void {
    const relayId = told.slice(2);
    if (told.startsWith("d ")) this.#inlets.get(relayId)?.heard(nodeId);
    else if (told.startsWith("r ")) this.#outlets.get(relayId)?.heard();
    else if (told.startsWith("x ")) this.#outlets.get(relayId)?.close();
  }

  tick(): void {
    const nowMs = this.#ground.monotonicMs();
    for (const inlet of this.#inlets.values()) inlet.tick(nowMs);
    for (const outlet of this.#outlets.values()) outlet.tick(nowMs);
  }

  close(): void {
    for (const inlet of this.#inlets.values()) inlet.lose(false);
    for (const outlet of this.#outlets.values()) outlet.close();
  }
}

/** The side that reads. */
class Inlet implements RelayInlet {
  /** The node that answers; empty until one does. */
  #nodeId = "";
  #next = 0;
  #isAsking = false;
  /** True where it was told of more since it asked. */
  #hasMore = false;
  #isPaused = false;
  #isOver = false;
  readonly #askedMs: number;
  #heardMs: number;
  #beatMs: number;

  constructor(
    private readonly ground: RelayGround,
    private readonly name: RelayName,
    private readonly question: string,
    private readonly reader: RelayReader,
    private readonly onOver: () => void,
  ) {
    this.#askedMs = ground.monotonicMs();
    this.#heardMs = this.#askedMs;
    this.#beatMs = this.#askedMs;
    ground.ask(question);
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    this.#read();
  }

  close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (this.#nodeId !== "") this.#notify("x");
    this.onOver();
  }

  lose(nobody: boolean): void {
    if (this.#isOver) return;
    this.close();
    this.reader.lost(nobody);
  }

  heard(nodeId: string): void {
    this.#nodeId ||= nodeId;
    if (nodeId !== this.#nodeId) return;
    this.#heardMs = this.ground.monotonicMs();
    this.#read();
  }

  tick(nowMs: number): void {
    if (this.#nodeId === "") {
      // The question, or the answer that somebody has it, may have been lost on the way.
      if (nowMs - this.#askedMs <= UNANSWERED_MS) this.ground.ask(this.question);
      else this.lose(this.ground.isWell());
      return;
    }
    if (nowMs - this.#heardMs > SILENT_MS) {
      this.lose(false);
      return;
    }
    if (nowMs - this.#beatMs >= BEAT_MS) {
      this.#beatMs = nowMs;
      this.#notify("r");
    }
    this.#read();
  }

  /** Reads what is there, and says with the next question what was read. */
  #read(): void {
    this.#hasMore = true;
    if (this.#isAsking || this.#isPaused || this.#isOver || !this.ground.isWell()) return;
    this.#isAsking = true;
    this.#hasMore = false;
    this.ground.read(this.name, this.#next, this.#nodeId, (pieces) => {
      this.#isAsking = false;
      if (this.#isOver || pieces === undefined) return;
      let count = 0;
      for (const piece of pieces) {
        if (typeof piece !== "string" || this.#isOver) break;
        this.#next += 1;
        count += 1;
        this.reader.piece(Buffer.from(piece, "base64"));
      }
      if (count > 0 || this.#hasMore) this.#read();
    });
  }

  #notify(kind: "r" | "x"): void {
    this.ground.tell(this.#nodeId, `${kind} ${this.name.relayId}`);
  }
}

/** The side that writes. */
class Outlet implements RelayOutlet {
  #number = 0;
  /** What is sent until it is known to be there. */
  #piece: string | undefined;
  #isSending = false;
  /** True where it was told of room since it sent. */
  #hasRoom = false;
  #isOver = false;
  #heardMs: number;
  #beatMs: number;

  constructor(
    private readonly ground: RelayGround,
    private readonly name: RelayName,
    private readonly nodeId: string,
    private readonly writer: RelayWriter,
    private readonly onOver: () => void,
  ) {
    this.#heardMs = ground.monotonicMs();
    this.#beatMs = this.#heardMs;
  }

  wake(): void {
    if (this.#isSending || this.#isOver || !this.ground.isWell()) return;
    // Whoever writes more while a piece is taken need not wake it.
    this.#isSending = true;
    this.#hasRoom = false;
    this.#piece ??= this.writer.next()?.toString("base64");
    if (this.#piece === undefined) {
      this.#isSending = false;
      return;
    }
    this.ground.write(this.name, this.#number, this.#piece, this.nodeId, (isThere) => {
      this.#isSending = false;
      // Where there is no room, or nobody knows, it is sent again once the reader is heard of, or with the next tick.
      if (isThere === true) {
        this.#number += 1;
        this.#piece = undefined;
      } else if (!this.#hasRoom) return;
      this.wake();
    });
  }

  heard(): void {
    this.#heardMs = this.ground.monotonicMs();
    this.#hasRoom = true;
    this.wake();
  }

  beat(): void {
    this.ground.tell(this.nodeId, `d ${this.name.relayId}`);
  }

  tick(nowMs: number): void {
    if (nowMs - this.#heardMs > SILENT_MS) {
      this.close();
      return;
    }
    if (nowMs - this.#beatMs >= BEAT_MS) {
      this.#beatMs = nowMs;
      this.beat();
    }
    this.wake();
  }

  close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.onOver();
    this.writer.gone();
  }
}

function parseRelayRequest(text: string): RelayRequest | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null) return undefined;
    const { relay, account, question } = value as Partial<Record<keyof RelayRequest, unknown>>;
    if (typeof relay !== "string" || typeof account !== "string" || typeof question !== "string") return undefined;
    return { relay, account, question };
  } catch {
    return undefined;
  }
}
