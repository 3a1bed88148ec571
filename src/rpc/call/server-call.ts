/** One call as a channel brings it to the dispatcher, and how it ends. */
import type { CancelSignal } from "../../base/cancellation.js";
import type { Admission, CallMetadata } from "../../api/channel.js";
import type { GatewayError } from "../../base/errors.js";
import type { Caller } from "../../keys/caller.js";
import type { Origin } from "./client-address.js";

/** One call as a channel brings it. Names in the metadata are lower case. */
export interface ServerCall extends Origin {
  /** Aborts when the caller goes away; a GatewayError as its reason is what the call ends with. */
  readonly signal: CancelSignal;
  /** How long the call may take, in milliseconds. */
  readonly timeoutMs?: number | undefined;
  /** What `admit` gave for it, before its message was read. */
  readonly admission?: Admission | undefined;
}

/** How a unary call ended. */
export type UnaryOutcome<Response> =
  | { readonly kind: "answered"; readonly message: Response; readonly head: CallMetadata }
  | Refused;
/** How a streaming call ended. */
export type StreamOutcome = { readonly kind: "ended" } | Refused;

/** What is known of a request that an edge refused by itself. */
export interface EdgeRefusal {
  /** The method, or the route of HTTP. */
  readonly path: string;
  /** Absent: it has none yet. */
  readonly requestId?: string | undefined;
  readonly metadata: CallMetadata;
  readonly caller?: Caller | undefined;
  readonly address?: string | undefined;
  /** The method, where `path` is a route of HTTP. */
  readonly method?: string | undefined;
  /** True where it came over HTTP. */
  readonly isFront?: boolean | undefined;
  /** True where the edge logs it. */
  readonly isLogged?: boolean | undefined;
}

export interface Refused {
  readonly kind: "refused";
  /** Its metadata names the request: `request_id`. */
  readonly error: GatewayError;
  /** The headers that did not go out before: the request's id at least. */
  readonly trailers: CallMetadata;
}
