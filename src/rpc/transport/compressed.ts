/**
 * Compressed messages are refused. The library makes a message of 8 MiB of 8 KB by itself, of a thousand calls at once,
 * before anybody hears of its bytes, so that no budget of memory can hold it; nor has it an option against it.
 */
import { subscribe } from "node:diagnostics_channel";
import type { IncomingHttpHeaders } from "node:http2";

/** Node tells of each stream before its server does; since 22.17 and 24.2. */
const CREATED = "http2.server.stream.created";
const NAME = "grpc-encoding";
const PLAIN = "identity";

let isRefusing = false;

/**
 * From now on, in the whole process, no message is compressed by anything that the library knows, which then answers
 * UNIMPLEMENTED and quotes what it was. One that is plain passes, whatever its call announced. On an older Node it
 * refuses nothing.
 */
export function refuseCompressed(): void {
  if (isRefusing) return;
  isRefusing = true;
  subscribe(CREATED, (message) => {
    const { headers } = message as { readonly headers: IncomingHttpHeaders };
    const encoding = headers[NAME];
    if (encoding !== undefined && encoding !== PLAIN) headers[NAME] = `${String(encoding)}; send it uncompressed`;
  });
}
