/** One place that answers requests: over HTTP, or inside the process. */

/** A request to an upstream. */
export interface UpstreamRequest {
  readonly method: "GET" | "POST";
  /** Path and query under the upstream's base address, such as /chat/completions. */
  readonly path: string;
  /** True of a path under the server's address: the base address without a version at its end. Absent: false. */
  readonly isOfServer?: boolean | undefined;
  /** Best the object of the request before, by which it is known again. */
  readonly headers: Readonly<Record<string, string>>;
  /** Of this request alone, such as those of its trace. None of them is among the others. */
  readonly ownHeaders?: Readonly<Record<string, string>> | undefined;
  readonly body: Buffer | undefined;
}

/** What an upstream calls as its answer comes. After `onEnd` or `onError` nothing more is called. */
export interface UpstreamHandler {
  /** A connection took the request: from now on the upstream may have read all of it. */
  onSent?(): void;
  onHead(status: number, headers: Readonly<Record<string, string>>): void;
  onData(chunk: Buffer): void;
  onEnd(): void;
  /** The connection failed or was cut; `sent` is false where the request cannot have reached the upstream. */
  onError(error: Error, sent: boolean): void;
}

/** One exchange that runs. */
export interface Exchange {
  /** Stops reading: of data and of an end nothing is told until `resume`. A head and an error are. */
  pause(): void;
  /** Reads on. What was read already is told before it returns. */
  resume(): void;
  /** Ends the exchange; the handler hears nothing more. */
  abort(): void;
}

/** An upstream, connected. */
export interface Upstream {
  send(request: UpstreamRequest, handler: UpstreamHandler): Exchange;
  close(): Promise<void>;
}

/** The source of a credential failed. The message names the source and quotes nothing that was sent or came back. */
export class CredentialFailure extends Error {
  override readonly name = "CredentialFailure";
}

/** The system's or the process's table of open files is full. */
const FULL: ReadonlySet<unknown> = new Set(["EMFILE", "ENFILE"]);

/** True of what failed because this process may open no connection more: that is no upstream's fault. */
export function isDescriptorError(error: unknown): boolean {
  return error instanceof Error && "code" in error && FULL.has(error.code);
}
