/** An OTLP receiver over HTTP, as a collector is one: it reads protobuf and JSON, and keeps the spans that come. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { loadSync } from "@grpc/proto-loader";
import { z } from "zod";

const PROTO = fileURLToPath(new URL("./otlp-trace.proto", import.meta.url));

const ANY = z.object({
  stringValue: z.string().optional(),
  intValue: z.union([z.string(), z.number()]).optional(),
  doubleValue: z.number().optional(),
  boolValue: z.boolean().optional(),
});
const ATTRIBUTES = z
  .array(z.object({ key: z.string(), value: ANY }))
  .default([])
  .transform((list) => Object.fromEntries(list.map(({ key, value }) => [key, valueOf(value)])));
const ID = z
  .union([z.string(), z.instanceof(Buffer)])
  .transform((id) => (typeof id === "string" ? id : id.toString("hex")));
const SPAN = z.object({
  traceId: ID,
  spanId: ID,
  parentSpanId: ID.default(""),
  name: z.string(),
  kind: z.number(),
  attributes: ATTRIBUTES,
  events: z.array(z.object({ name: z.string(), attributes: ATTRIBUTES })).default([]),
  status: z.object({ code: z.number().default(0) }).nullish(),
});
const EXPORT = z.object({
  resourceSpans: z.array(
    z.object({
      resource: z.object({ attributes: ATTRIBUTES }),
      scopeSpans: z.array(z.object({ spans: z.array(SPAN) })),
    }),
  ),
});

export type ReceivedSpan = z.output<typeof SPAN>;

export const SERVER_SPAN = 2;
export const CLIENT_SPAN = 3;
export const ERROR_STATUS = 2;

export interface TraceReceiver {
  readonly url: string;
  readonly spans: ReceivedSpan[];
  /** What the spans say of the program that they come from, newest last. */
  readonly resources: Record<string, unknown>[];
  /** The content types and headers of what came. */
  readonly requests: { readonly path: string; readonly headers: Readonly<Record<string, unknown>> }[];
  close(): Promise<void>;
}

export async function startTraceReceiver(): Promise<TraceReceiver> {
  const method = loadSync(PROTO, { longs: Number, keepCase: false })["test.otlp.TraceService"];
  if (method === undefined || !("Export" in method)) throw new Error("the form of OTLP cannot be read");
  const { requestDeserialize } = method.Export;
  const spans: ReceivedSpan[] = [];
  const resources: Record<string, unknown>[] = [];
  const requests: TraceReceiver["requests"] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = Buffer.concat(chunks);
      const type = request.headers["content-type"] ?? "";
      requests.push({ path: request.url ?? "", headers: request.headers });
      const read: unknown = type.includes("json") ? JSON.parse(body.toString()) : requestDeserialize(body);
      for (const { resource, scopeSpans } of EXPORT.parse(read).resourceSpans) {
        resources.push(resource.attributes);
        spans.push(...scopeSpans.flatMap((scope) => scope.spans));
      }
      response.writeHead(200, { "content-type": type }).end(type.includes("json") ? "{}" : "");
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    spans,
    resources,
    requests,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

function valueOf({ stringValue, intValue, doubleValue, boolValue }: z.output<typeof ANY>): unknown {
  return stringValue ?? (intValue === undefined ? undefined : Number(intValue)) ?? doubleValue ?? boolValue;
}
