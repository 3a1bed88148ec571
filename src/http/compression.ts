/** JSON of the management API leaves compressed where the client takes gzip: lists repeat themselves. */
import { pipeline, Readable } from "node:stream";
import { promisify } from "node:util";
import { constants, createGzip, gzip } from "node:zlib";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

/** A shorter answer fits into one packet anyway. */
const BYTES_MIN = 1_400;
/** Compressing runs on the threads that files and names need too: more answers at once leave as they are. */
const AT_ONCE_MAX = 8;
const MANAGEMENT = "/api/v1/";
const FAST = { level: constants.Z_BEST_SPEED };
const compress = promisify(gzip);

type Payload = string | Buffer | Readable;

export function compressAnswers(app: FastifyInstance): void {
  let running = 0;
  const over = (): void => void (running -= 1);
  app.addHook("onSend", async (request, reply, payload) => {
    if (!isCompressible(request, reply, payload)) return payload;
    reply.header("vary", varyingBy(reply.getHeader("vary")));
    if (!takesGzip(request) || running >= AT_ONCE_MAX) return payload;
    running += 1;
    reply.header("content-encoding", "gzip").removeHeader("content-length");
    // A list that is written piece by piece is compressed so too. What ends it early ends both.
    if (payload instanceof Readable) return pipeline(payload, createGzip(FAST), over);
    return compress(payload, FAST).finally(over);
  });
}

/** Streams of events are no JSON, so that each event leaves at once. */
function isCompressible({ url }: FastifyRequest, reply: FastifyReply, payload: unknown): payload is Payload {
  if (!url.startsWith(MANAGEMENT) || reply.hasHeader("content-encoding")) return false;
  if (!String(reply.getHeader("content-type")).startsWith("application/json")) return false;
  if (payload instanceof Readable) return true;
  return (typeof payload === "string" || Buffer.isBuffer(payload)) && payload.length >= BYTES_MIN;
}

/** A coding with the weight 0 is refused. */
function takesGzip({ headers }: FastifyRequest): boolean {
  const accepted = headers["accept-encoding"] ?? "";
  return /(?:^|[\s,])gzip(?!\s*;\s*q=0(?:\.0+)?(?:\s|,|$))/i.test(String(accepted));
}

function varyingBy(before: unknown): string {
  return typeof before === "string" && before !== "" ? `${before}, accept-encoding` : "accept-encoding";
}
