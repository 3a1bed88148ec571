/** Kept answers of other nodes: a stream that one node serves can be resumed, or ended, through any other. */
import { Cancellation, type CancelSignal } from "../../base/cancellation.js";
import type { CallMetadata, Sink } from "../../api/channel.js";
import { InferenceServiceService, Source } from "../../api/index.js";
import type { RelayInlet, RelayOutlet, Relays } from "../../api/relays.js";
import { GatewayError } from "../../base/errors.js";
import { type FrameKind, FrameReader, FrameWriter, readError, RelaySeal, writeError } from "./relay-frames.js";

/** The caller that resumes or ends a stream. */
export interface StreamReader {
  /** The id of the key, or of the person. */
  readonly id: string;
  readonly accountId: string;
  readonly isOperator: boolean;
}

/** A request to the node that has the stream. */
export interface RelayQuestion {
  readonly act: "resume" | "cancel";
  readonly requestId: string;
  /** The account of the stream. */
  readonly accountId: string;
  /** Undefined in a request from a node of an older build, which is refused. */
  readonly reader: StreamReader | undefined;
  /** The number of messages that the reader already has. */
  readonly skip: number;
}

/** How a node answers the requests of other nodes. */
export interface RelayServer {
  /** The request as the client made it, if this node keeps its answer; a refusal if the reader may not read it. */
  sourceOf(question: RelayQuestion): { readonly source: Source | undefined } | GatewayError | undefined;
  follow(requestId: string, sink: Sink<unknown>, signal: CancelSignal, skip: number): Promise<void>;
  cancel(requestId: string): Promise<{ cancelled: boolean; costNanos: bigint }>;
}

const { responseSerialize, responseDeserialize } = InferenceServiceService.streamGenerate;

export class OtherNodes {
  readonly #seal: RelaySeal;

  constructor(
    private readonly relays: Relays,
    rootSecrets: readonly Buffer[],
    randomNonce: () => Buffer,
  ) {
    this.#seal = new RelaySeal(rootSecrets, randomNonce);
  }

  /** Starts to answer the requests of other nodes. */
  serve(server: RelayServer): void {
    this.relays.onAsked((sealed, accept) => {
      const text = this.#seal.open(sealed);
      const question = text && (JSON.parse(text.toString()) as RelayQuestion);
      const found = question && server.sourceOf(question);
      if (question === undefined || found === undefined) return;
      const served = new Served(this.#seal);
      served.outlet = accept(served);
      if (found instanceof GatewayError) void served.refuse(found);
      else if (question.act === "cancel") void served.cancel(server, question);
      else void served.follow(server, question, found.source);
    });
  }

  /** The answer that another node keeps; false if none has it. Rejects with OVERLOADED if no node can be reached. */
  resume(
    question: Omit<RelayQuestion, "act">,
    begin: (source: Source | undefined) => Sink<unknown>,
    signal: CancelSignal,
  ): Promise<boolean> {
    let sink: Sink<unknown> | undefined;
    return this.#ask({ ...question, act: "resume" }, signal, (kind, bytes, inlet) => {
      if (kind === "source") {
        sink = begin(bytes.length === 0 ? undefined : Source.decode(bytes));
        sink.onDrain(() => inlet().resume());
      } else if (kind === "head") sink?.head(JSON.parse(bytes.toString()) as CallMetadata);
      else if (kind === "data" && sink?.data(responseDeserialize(bytes)) === false) inlet().pause();
    });
  }

  /** Ends it on the node where it runs; undefined if none has it. */
  async cancel(
    question: Omit<RelayQuestion, "act" | "skip">,
    signal: CancelSignal,
  ): Promise<{ cancelled: boolean; costNanos: bigint } | undefined> {
    let told: { cancelled: boolean; costNanos: bigint } | undefined;
    await this.#ask({ ...question, act: "cancel", skip: 0 }, signal, (kind, bytes) => {
      if (kind !== "head") return;
      const { cancelled, costNanos } = JSON.parse(bytes.toString()) as { cancelled: string; costNanos: string };
      told = { cancelled: cancelled === "true", costNanos: BigInt(costNanos) };
    });
    return told;
  }

  /** Resolves at the end of the other node's answer; rejects with the error that ended it. */
  async #ask(
    question: RelayQuestion,
    signal: CancelSignal,
    onFrame: (kind: FrameKind, bytes: Buffer, inlet: () => RelayInlet) => void,
  ): Promise<boolean> {
    signal.throwIfAborted();
    let inlet: RelayInlet | undefined;
    let begun = false;
    let resolve: (isWhole: boolean) => void = () => undefined;
    let reject: (error: GatewayError) => void = () => undefined;
    const over = new Promise<boolean>((onEnd, onError) => {
      resolve = onEnd;
      reject = onError;
    });
    const ask = (): RelayInlet => {
      if (inlet === undefined) throw new Error("received data before its request");
      return inlet;
    };
    const reader = new FrameReader((kind, bytes) => {
      begun = true;
      if (kind !== "end") return onFrame(kind, bytes, ask);
      const error = readError(bytes);
      if (error === undefined) resolve(true);
      else reject(error);
    });
    inlet = await this.relays.ask(question.accountId, this.#seal.seal(Buffer.from(JSON.stringify(question))), {
      piece: (sealed) => {
        try {
          const plain = this.#seal.open(sealed);
          if (plain === undefined) throw new Error("another node has another TOLLGATE_SECRET");
          reader.read(plain);
        } catch (error) {
          reject(GatewayError.from(error));
        }
      },
      lost: (nobody) => (nobody && !begun ? resolve(false) : reject(nodeLost())),
    });
    if (inlet === undefined) throw nodeLost();
    const leave = (): void => reject(GatewayError.from(signal.reason));
    signal.addEventListener("abort", leave, { once: true });
    if (signal.aborted) leave();
    try {
      return await over;
    } finally {
      signal.removeEventListener("abort", leave);
      inlet.close();
    }
  }
}

/** One answer that is sent to another node. */
class Served {
  outlet: RelayOutlet | undefined;
  readonly #frames = new FrameWriter();
  readonly #cancellation = new Cancellation();
  #onDrain: (() => void) | undefined;
  #isPaused = false;

  constructor(private readonly seal: RelaySeal) {}

  next(): Buffer | undefined {
    const piece = this.#frames.take();
    if (this.#isPaused && !this.#frames.isBehind) {
      this.#isPaused = false;
      this.#onDrain?.();
    }
    return piece && this.seal.seal(piece);
  }

  gone(): void {
    this.#cancellation.abort(new GatewayError("ERROR_REASON_CANCELLED"));
  }

  async follow(server: RelayServer, { requestId, skip }: RelayQuestion, source: Source | undefined): Promise<void> {
    this.#write("source", source === undefined ? Buffer.alloc(0) : Source.encode(source).finish());
    const sink: Sink<unknown> = {
      head: (metadata) => this.#write("head", Buffer.from(JSON.stringify(metadata))),
      // Only streams of generations are kept for this.
      data: (message) => {
        this.#write("data", responseSerialize(message as Parameters<typeof responseSerialize>[0]));
        return !(this.#isPaused = this.#frames.isBehind);
      },
      onDrain: (callback) => {
        this.#onDrain = callback;
      },
    };
    await this.#end(server.follow(requestId, sink, this.#cancellation, skip));
  }

  refuse(error: GatewayError): Promise<void> {
    return this.#end(Promise.reject(error));
  }

  async cancel(server: RelayServer, { requestId }: RelayQuestion): Promise<void> {
    const told = server.cancel(requestId).then(({ cancelled, costNanos }) => {
      const text = JSON.stringify({ cancelled: String(cancelled), costNanos: String(costNanos) });
      this.#write("head", Buffer.from(text));
    });
    await this.#end(told);
  }

  async #end(work: Promise<void>): Promise<void> {
    const error = await work.then(
      () => undefined,
      (thrown: unknown) => GatewayError.from(thrown),
    );
    if (!this.#cancellation.aborted) this.#write("end", writeError(error));
  }

  #write(kind: FrameKind, bytes: Uint8Array): void {
    this.#frames.write(kind, bytes);
    this.outlet?.wake();
  }
}

function nodeLost(): GatewayError {
  const problem = "the node that serves this stream cannot be reached, or too many of the account are read at once";
  return new GatewayError("ERROR_REASON_OVERLOADED", { problem, retry_after_ms: "1000" });
}
