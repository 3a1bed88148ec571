/** A list for a spreadsheet: its pages as one CSV, each read when the client took the one before. */
import { Readable } from "node:stream";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { CallOptions, Method } from "../api/channel.js";
import { type Front, goneSignal } from "./front.js";
import { isRecord, refuse } from "./json-check.js";
import { type HttpInput, requestBytes } from "./json-map.js";
import { answerMessage, type ManagementAnswer, type ManagementRoute, orRefuseCaller } from "./management-route.js";

const PAGE_SIZE = 1_000;

interface PagedRequest {
  readonly pageSize: number;
  readonly pageToken: string;
}

/** How the pages of a method are written. */
export interface CsvForm<Request extends PagedRequest, Response extends { readonly nextPageToken: string }> {
  readonly method: Method<Request, Response> & { requestDeserialize(bytes: Buffer): Request };
  /** Of the file, without its ending. */
  readonly name: (request: Request) => string;
  /** Before the first page, and after the last. */
  readonly head: (page: Response) => string;
  readonly lines: (page: Response) => string;
  readonly end: (page: Response) => string;
}

/** Answers with JSON, or with CSV where that was asked for: all of it, or one page where its size was named. */
export function csvAnswer<Request extends PagedRequest, Response extends { readonly nextPageToken: string }>(
  form: CsvForm<Request, Response>,
): ManagementAnswer {
  return async (request, reply, input, route) => {
    const { csv, query } = await orRefuseCaller(request, route, () => formOf(request));
    const asked = { ...input, query };
    if (!csv) return answerMessage(request, reply, asked, route);
    return answerCsv(form, { request, reply, asked, route });
  };
}

/** Whether CSV is wanted, and the query without its `format`, which is not the method's. */
export function formOf(request: FastifyRequest): { readonly csv: boolean; readonly query: unknown } {
  if (!isRecord(request.query)) return { csv: false, query: request.query };
  const { format, ...query } = request.query;
  if (format !== undefined && format !== "csv" && format !== "json") refuse("format", "must be csv or json");
  const accepts = /(?:^|,)\s*text\/csv\b/i.test(request.headers.accept ?? "");
  return { csv: format === undefined ? accepts : format === "csv", query };
}

interface CsvCall {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly asked: HttpInput;
  readonly route: ManagementRoute;
}

async function answerCsv<Request extends PagedRequest, Response extends { readonly nextPageToken: string }>(
  form: CsvForm<Request, Response>,
  { request, reply, asked: input, route }: CsvCall,
): Promise<FastifyReply> {
  const { front } = route;
  const bytes = await orRefuseCaller(request, route, () => requestBytes(route.desc, input));
  const asked = form.method.requestDeserialize(bytes);
  const options = front.callOptions(request, goneSignal(reply));
  const isOnePage = asked.pageSize !== 0;
  // The first page comes before the head, so that a refusal has its status.
  const first = { ...asked, pageSize: isOnePage ? asked.pageSize : PAGE_SIZE };
  const { message, head } = await front.channel.unary(form.method, first, options);
  reply
    .headers(front.headers(request, head))
    .header("content-disposition", `attachment; filename="${form.name(asked)}.csv"`)
    .type("text/csv; charset=utf-8; header=present");
  if (!isOnePage) return reply.send(Readable.from(allPages(form, front, first, message, options)));
  return reply
    .header("x-tollgate-next-page-token", message.nextPageToken)
    .send(form.head(message) + form.lines(message) + form.end(message));
}

/** A page that fails cuts the answer, which then does not end as it should. */
async function* allPages<Request extends PagedRequest, Response extends { readonly nextPageToken: string }>(
  form: CsvForm<Request, Response>,
  front: Front,
  asked: Request,
  first: Response,
  options: CallOptions,
): AsyncGenerator<string> {
  let page = first;
  yield form.head(page) + form.lines(page);
  while (page.nextPageToken !== "") {
    const next = await front.channel.unary(form.method, { ...asked, pageToken: page.nextPageToken }, options);
    page = next.message;
    yield form.lines(page);
  }
  yield form.end(page);
}
