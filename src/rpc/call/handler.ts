/** What a method of a service looks like to the one who writes it. */
import type { CallMetadata, Sink } from "../../api/channel.js";
import type { Act } from "../../audit/act.js";
import type { GatewayCall } from "../../gateway/gateway.js";

/** One call that passed identity and permission. */
export interface ServiceCall extends GatewayCall {
  /** What the store is told with each change. Throws where the method is one that changes nothing. */
  readonly act: Act;
  /** Where it comes from, as an IP literal; empty where nobody knows. */
  readonly address: string;
  /** True where the call comes from this process, or through the tunnel of a front end of ours. */
  readonly local: boolean;
  /** What else the edge told of the call. */
  readonly metadata: CallMetadata;
  /** The headers of the answer. At most once; of a streaming method, before its first message. */
  head(metadata: CallMetadata): void;
}

export type UnaryHandler<Request, Response> = (request: Request, call: ServiceCall) => Promise<Response>;

/** Pushes its answer. The head goes through the sink. */
export type StreamHandler<Request, Response> = (
  request: Request,
  call: ServiceCall,
  sink: Sink<Response>,
) => Promise<void>;

interface Shape<Stream extends boolean, Request, Response> {
  readonly responseStream: Stream;
  readonly requestDeserialize: (bytes: Buffer) => Request;
  readonly responseDeserialize: (bytes: Buffer) => Response;
}

type HandlerOf<Definition> =
  Definition extends Shape<true, infer Request, infer Response>
    ? StreamHandler<Request, Response>
    : Definition extends Shape<false, infer Request, infer Response>
      ? UnaryHandler<Request, Response>
      : never;

/** A handler for each method of a generated service definition. */
export type Handlers<Service> = { readonly [Name in keyof Service]: HandlerOf<Service[Name]> };
