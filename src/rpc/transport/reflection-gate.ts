/** Who may ask for the protocol at the address of the services: callers with a valid key, a few at once. */
import type { ServerDuplexStream } from "@grpc/grpc-js";
import type { MethodPermission } from "../../api/descriptors.js";
import { GatewayError } from "../../base/errors.js";
import { peerAddress } from "../call/client-address.js";
import type { Dispatcher } from "../call/dispatcher.js";
import type { Listener } from "./listener.js";
import { readMetadata } from "../call/metadata.js";
import { statusOf } from "../call/status.js";

/** Any valid key: the protocol is no secret, but an address that serves it to strangers works for strangers. */
const ANY_KEY: MethodPermission = { scope: "", operator: false, reads: true };
/** Conversations at once, of all keys and of one. */
const TALKS_MAX = 16;
const TALKS_OF_KEY_MAX = 4;
/** A conversation ends after so long; its client asks again. */
const TALK_MS = 300_000;

type AnyTalk = ServerDuplexStream<unknown, unknown>;

export class ReflectionGate {
  readonly #talks = new Map<AnyTalk, string>();

  constructor(
    private readonly dispatcher: Pick<Dispatcher, "admit">,
    private readonly listener: () => Listener,
  ) {}

  /** Rejects with the status of the refusal. */
  async enter(talk: AnyTalk): Promise<void> {
    try {
      const { metadata } = talk;
      const origin = { metadata: readMetadata(metadata), peer: peerAddress(talk.getPeer()), local: false };
      const { holder } = await this.dispatcher.admit(ANY_KEY, origin, talk.getPath());
      const connection = this.listener().connectionOf(talk.getPeer());
      if (connection !== undefined) this.listener().trust(connection);
      this.#add(talk, holder);
    } catch (thrown) {
      const error = GatewayError.from(thrown);
      const id = error.metadata["request_id"];
      throw statusOf(error, id === undefined ? {} : { "x-request-id": id });
    }
  }

  #add(talk: AnyTalk, holder: string): void {
    if (talk.cancelled || talk.destroyed) throw new GatewayError("ERROR_REASON_CANCELLED");
    const ofKey = [...this.#talks.values()].filter((other) => other === holder).length;
    if (this.#talks.size >= TALKS_MAX || ofKey >= TALKS_OF_KEY_MAX) throw new GatewayError("ERROR_REASON_OVERLOADED");
    this.#talks.set(talk, holder);
    const over = (): void => {
      clearTimeout(timer);
      this.#talks.delete(talk);
    };
    const timer = setTimeout(() => {
      talk.end();
      over();
    }, TALK_MS).unref();
    for (const end of ["finish", "cancelled", "close", "error"]) talk.once(end, over);
  }
}
