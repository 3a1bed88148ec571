/** A list as one file, CSV or lines of JSON: its pages, each read when the client took the one before. */
import { Readable } from "node:stream";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { CallOptions, Method } from "../api/channel.js";
import { type Front, goneSignal } from "./front.js";
import { isRecord, refuse } from "./json-check.js";
import { type HttpInput, requestBytes } from "./json-map.js";
import { answerMessage, type ManagementAnswer, type ManagementRoute, orRefuseCaller } from "./management-call.js";

const PAGE_SIZE = 1_000;

interface PagedRequest {
  readonly pageSize: number;
  readonly pageToken: string;
}

/** How pages are written: before the first one, each, and after the last. */
interface PageTexts<Request, Response> {
  readonly head: (page: Response) => string;
  readonly lines: (page: Response, request: Request) => string;
  readonly end: (page: Response) => string;
}

type OtherForm = "jsonl" | "focus";

/** How the pages of a method are written as CSV, and in which forms else. */
export interface CsvForm<
  Request extends PagedRequest,
  Response extends { readonly nextPageToken: string },
> extends PageTexts<Request, Response> {
  readonly method: Method<Request, Response> & { requestDeserialize(bytes: Buffer): Request };
  /** Of the file, without its ending. */
  readonly name: (request: Request) => string;
  readonly others?: { readonly [Form in OtherForm]?: PageTexts<Request, Response> };
}

/** What comes as a file, beside the messages of the API. */
const MEDIA = {
  csv: { type: "text/csv; charset=utf-8; header=present", ending: ".csv" },
  focus: { type: "text/csv; charset=utf-8; header=present", ending: "-focus.csv" },
  jsonl: { type: "application/x-ndjson; charset=utf-8", ending: ".jsonl" },
} as const;

/** Answers with JSON, or with a file where that was asked for: all of it, or one page where its size was named. */
export function csvAnswer<Request extends PagedRequest, Response extends { readonly nextPageToken: string }>(
  form: CsvForm<Request, Response>,
): ManagementAnswer {
  const others = form.others ?? {};
  return async (request, reply, input, route) => {
    const { format, query } = await orRefuseCaller(request, route, () => formatOf(request, Object.keys(others)));
    const asked = { ...input, query };
    if (format === "json") return answerMessage(request, reply, asked, route);
    const texts = format === "csv" ? form : (others[format] ?? form);
    return answerFile({ form, texts, media: MEDIA[format] }, { request, reply, asked, route });
  };
}

/** Whether CSV is wanted, and the query without its `format`, which is not the method's. */
export function formOf(request: FastifyRequest): { readonly csv: boolean; readonly query: unknown } {
  const { format, query } = formatOf(request, []);
  return { csv: format === "csv", query };
}

function formatOf(
  request: FastifyRequest,
  others: readonly string[],
): { readonly format: keyof typeof MEDIA | "json"; readonly query: unknown } {
  if (!isRecord(request.query)) return { format: "json", query: request.query };
  const { format, ...query } = request.query;
  const accepts = /(?:^|,)\s*text\/csv\b/i.test(request.headers.accept ?? "");
  if (format === undefined) return { format: accepts ? "csv" : "json", query };
  if (format === "csv" || format === "json") return { format, query };
  if ((format === "jsonl" || format === "focus") && others.includes(format)) return { format, query };
  refuse("format", `must be ${["csv", ...others].join(", ")} or json`);
}

interface FileForm<Request extends PagedRequest, Response extends { readonly nextPageToken: string }> {
  readonly form: CsvForm<Request, Response>;
  readonly texts: PageTexts<Request, Response>;
  readonly media: (typeof MEDIA)[keyof typeof MEDIA];
}

interface CsvCall {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly asked: HttpInput;
  readonly route: ManagementRoute;
}

async function answerFile<Request extends PagedRequest, Response extends { readonly nextPageToken: string }>(
  { form, texts, media }: FileForm<Request, Response>,
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
    .header("content-disposition", `attachment; filename="${form.name(asked)}${media.ending}"`)
    .type(media.type);
  if (!isOnePage) return reply.send(Readable.from(allPages({ form, texts, media }, front, first, message, options)));
  return reply
    .header("x-tollgate-next-page-token", message.nextPageToken)
    .send(texts.head(message) + texts.lines(message, asked) + texts.end(message));
}

/** A page that fails cuts the answer, which then does not end as it should. */
async function* allPages<Request extends PagedRequest, Response extends { readonly nextPageToken: string }>(
  { form, texts }: FileForm<Request, Response>,
  front: Front,
  asked: Request,
  first: Response,
  options: CallOptions,
): AsyncGenerator<string> {
  let page = first;
  yield texts.head(page) + texts.lines(page, asked);
  while (page.nextPageToken !== "") {
    const next = await front.channel.unary(form.method, { ...asked, pageToken: page.nextPageToken }, options);
    page = next.message;
    yield texts.lines(page, asked);
  }
  yield texts.end(page);
}
