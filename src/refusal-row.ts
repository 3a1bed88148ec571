/** The form of a row in the table of refusals: what each edge says of one. */
import type { status } from "@grpc/grpc-js";

/** As the library's enum numbers them, which the threads beside the event loop would load all of it for. */
export const GRPC = {
  CANCELLED: 1,
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  ALREADY_EXISTS: 6,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  FAILED_PRECONDITION: 9,
  ABORTED: 10,
  UNIMPLEMENTED: 12,
  INTERNAL: 13,
  UNAVAILABLE: 14,
  UNAUTHENTICATED: 16,
} as const satisfies Partial<Record<keyof typeof status, status>>;

/** Facts of one refusal: what stands in ErrorInfo's metadata and fills the message. */
export type ErrorMetadata = Readonly<Record<string, string>>;

export interface Row {
  /** The gRPC status. */
  readonly grpc: status;
  /** The HTTP status. */
  readonly http: number;
  /** The `type` of OpenAI's envelope. */
  readonly type: string;
  /** The `code` of OpenAI's envelope. */
  readonly code: string;
  /** True where the same request may succeed later. */
  readonly retry: boolean;
  /** One or two sentences: what is wrong, and what to do. */
  readonly say: (m: ErrorMetadata) => string;
}
