/** What stands before every message: its caller is let in by the headers alone, and its bytes must find room. */
import {
  type Metadata,
  type ServerInterceptingCallInterface,
  type ServerInterceptor,
  ServerInterceptingCall,
} from "@grpc/grpc-js";
import type { ByteBudget } from "../../base/bytes/byte-budget.js";
import type { CallMetadata } from "../../api/channel.js";
import type { RequestQueue } from "../../base/event-loop/request-queue.js";
import { GatewayError } from "../../base/errors.js";
import { settle, whenReady } from "../../base/when-ready.js";
import { type Origin, peerAddress } from "../call/client-address.js";
import type { Admitted } from "../call/admitted.js";
import type { Dispatcher } from "../call/dispatcher.js";
import type { GrpcConnection, Listener } from "./listener.js";
import { readMetadata } from "../call/metadata.js";
import { Receiving } from "./receiving.js";
import { statusOf } from "../call/status.js";

/** A message, or why it is refused, with its size, which grpc-js tells only where it is read. */
export class Sized {
  constructor(
    readonly message: unknown,
    readonly bytes: number,
  ) {}
}

/** What the headers of one call said. */
export interface Entered {
  readonly metadata: CallMetadata;
  readonly peer: string;
  readonly admission: Admitted;
}

export interface GateOptions {
  readonly dispatcher: Pick<Dispatcher, "admit" | "permissionOf" | "queueOf" | "refusedAtEdge">;
  readonly listener: () => Listener;
  readonly bodies: ByteBudget | undefined;
  /** Where calls wait for their start. Absent: they begin at once. */
  readonly queue: Pick<RequestQueue, "isFree" | "push"> | undefined;
  /** How long a message may take before it must come at a least rate. */
  readonly slowMs: number;
}

export class Gate {
  readonly #options: GateOptions;
  readonly #receiving: Receiving;
  readonly #entered = new WeakMap<Metadata, Entered>();

  constructor(options: GateOptions) {
    this.#options = options;
    this.#receiving = new Receiving(options.bodies, options.slowMs);
  }

  /** For `ServerOptions.interceptors`. Methods that need no key pass: their handlers ask for something else. */
  readonly interceptor: ServerInterceptor = ({ path }, call) =>
    this.#options.dispatcher.permissionOf(path) === undefined
      ? new ServerInterceptingCall(call)
      : this.#guarded(path, call);

  /** What was learned of a call from its headers. */
  entered(metadata: Metadata): Entered {
    const entered = this.#entered.get(metadata);
    if (entered === undefined) throw new Error("a call came past the gate");
    return entered;
  }

  #guarded(path: string, call: ServerInterceptingCallInterface): ServerInterceptingCall {
    let isOver = false;
    let message: { arrived(bytes: number): void; end(): void } | undefined;
    let from: Origin | undefined;
    let entry: Entered | undefined;
    const refuse = (thrown: unknown): void => {
      if (isOver) return;
      const error = this.#told(GatewayError.from(thrown), path, from, entry);
      const id = error.metadata["request_id"];
      call.sendStatus(statusOf(error, id === undefined ? {} : { "x-request-id": id }));
    };
    const enter = (entered: Entered, connection: GrpcConnection | undefined, metadata: Metadata): boolean => {
      if (isOver) return false;
      if (connection !== undefined) this.#options.listener().trust(connection);
      this.#entered.set(metadata, entered);
      entry = entered;
      message = this.#receiving.begin(entered.admission.holder, connection, refuse);
      return true;
    };
    const onReceiveMetadata = (metadata: Metadata, next: (metadata: Metadata) => void): void => {
      const peer = call.getPeer();
      const connection = this.#options.listener().connectionOf(peer);
      const origin = { metadata: readMetadata(metadata), peer: peerAddress(peer), local: false };
      from = origin;
      const admitted = (admission: Admitted): void => {
        if (enter({ metadata: origin.metadata, peer: origin.peer, admission }, connection, metadata)) next(metadata);
      };
      const start = (): void => {
        if (isOver) return;
        settle(() => whenReady(this.#admit(path, origin), admitted), refuse);
      };
      const { queue, dispatcher } = this.#options;
      if (queue === undefined || queue.isFree) return start();
      // Too many come for a record of each that is refused.
      const refuseUnseen = (error: GatewayError): void => void (isOver || call.sendStatus(statusOf(error, {})));
      queue.push(dispatcher.queueOf(origin.metadata), { start, refuse: refuseUnseen });
    };
    const onReceiveMessage = (received: unknown, next: (message: unknown) => void): void => {
      if (!(received instanceof Sized)) return refuse(new Error("a message came without its size"));
      try {
        message?.arrived(received.bytes);
        if (received.message instanceof GatewayError) throw received.message;
        next(received.message);
      } catch (error) {
        refuse(error);
      }
    };
    // It comes after every call, however it ended.
    const onCancel = (): void => {
      isOver = true;
      message?.end();
    };
    return new ServerInterceptingCall(call, {
      start: (next) => next({ onReceiveMetadata, onReceiveMessage, onCancel }),
    });
  }

  /** What the dispatcher refused it has told; what is refused here is told now. */
  #told(error: GatewayError, path: string, from: Origin | undefined, entry: Entered | undefined): GatewayError {
    if (error.metadata["request_id"] !== undefined || from === undefined) return error;
    const { caller, address } = entry?.admission ?? {};
    return this.#options.dispatcher.refusedAtEdge(error, { path, metadata: from.metadata, caller, address });
  }

  #admit(path: string, origin: Omit<Entered, "admission"> & { readonly local: boolean }): Admitted | Promise<Admitted> {
    const permission = this.#options.dispatcher.permissionOf(path);
    if (permission === undefined) throw new GatewayError("ERROR_REASON_PATH_UNKNOWN", { path });
    return this.#options.dispatcher.admit(permission, origin, path);
  }
}
