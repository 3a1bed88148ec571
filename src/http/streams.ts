/** `/v1/streams/{request}`: reads a stream once more from where its client lost it, or ends it. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { CallOptions } from "../api/channel.js";
import { InferenceServiceService } from "../api/index.js";
import { GatewayError } from "../base/errors.js";
import { formatMoney } from "../base/money.js";
import type { Format } from "../formats/format.js";
import { EventNumbers, readEventId } from "./event-numbers.js";
import { Generation, type GenerationParts } from "./generation.js";
import { goneSignal } from "./front.js";
import { flatRecord } from "./headers.js";

const PERMISSION = { config: { permission: { scope: "chat" }, isClientApi: true } } as const;
/** A comment: programs that parse events read here, not SDKs, some of which know none. */
const HEARTBEAT = Buffer.from(": \n\n");

export function addStreamRoutes(app: FastifyInstance, formats: readonly Format[], parts: GenerationParts): void {
  app.get("/v1/streams/:request", PERMISSION, (request, reply) => {
    const requestId = requestIdOf(request);
    const after = lastEvent(request, requestId);
    return new ResumedGeneration(request, reply, formats, parts, requestId, after).run();
  });
  app.delete("/v1/streams/:request", PERMISSION, async (request, reply) => {
    const options = parts.front.callOptions(request, goneSignal(reply));
    const asked = { requestId: requestIdOf(request) };
    const { message, head } = await parts.front.channel.unary(InferenceServiceService.cancelStream, asked, options);
    const { requestId, cancelled, costNanos } = message;
    return reply
      .headers(parts.front.headers(request, head))
      .type("application/json; charset=utf-8")
      .send(JSON.stringify({ id: requestId, cancelled, cost_nanos: String(costNanos), cost: formatMoney(costNanos) }));
  });
}

/** The answer of another request, in that request's own format. */
class ResumedGeneration extends Generation {
  constructor(
    request: FastifyRequest,
    reply: FastifyReply,
    private readonly formats: readonly Format[],
    private readonly parts: GenerationParts,
    private readonly requestId: string,
    after: number,
  ) {
    const [first] = formats;
    if (first === undefined) throw new Error("there is no format");
    super(request, reply, first, parts, new EventNumbers(HEARTBEAT, () => requestId, after));
  }

  protected override ask(options: CallOptions): Promise<void> {
    // The numbers of events are the client's format's, so it is encoded from its begin.
    const asked = { requestId: this.requestId, afterBatches: 0n };
    return this.parts.front.channel.stream(InferenceServiceService.resumeStream, asked, options, {
      head: (metadata) => this.head(metadata),
      data: ({ source, batch }) => {
        if (batch !== undefined) return this.data(batch);
        const format = this.formats.find(({ wire }) => wire.name === source?.wire);
        if (source === undefined || format === undefined) this.stop(typedForm());
        else this.adopt(format, source);
        return true;
      },
      onDrain: (callback) => this.onDrain(callback),
    });
  }
}

function requestIdOf(request: FastifyRequest): string {
  return flatRecord(request.params)["request"] ?? "";
}

function lastEvent(request: FastifyRequest, requestId: string): number {
  const text = request.headers["last-event-id"];
  if (text === undefined || text === "") return 0;
  const last = typeof text === "string" ? readEventId(text) : undefined;
  if (last?.requestId === requestId) return last.number;
  const problem = "must be the id of an event of this stream";
  throw new GatewayError("ERROR_REASON_PARAMETER_INVALID", { param: "Last-Event-ID", problem });
}

function typedForm(): GatewayError {
  const problem = "was asked in the typed form, and can be resumed over gRPC alone";
  return new GatewayError("ERROR_REASON_PARAMETER_INVALID", { param: "request", problem });
}
