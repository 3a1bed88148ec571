/** An account's statement for a spreadsheet: its pages as one CSV, each read when the client took the one before. */
import { Readable } from "node:stream";
import type { FastifyReply, FastifyRequest } from "fastify";
import { AccountServiceService, type GetStatementRequest, type GetStatementResponse } from "../api/index.js";
import type { CallOptions } from "../api/channel.js";
import { statementEnd, statementHead, statementLines } from "../api/statement-csv.js";
import { type Front, goneSignal } from "./front.js";
import { isRecord, refuse } from "./json-check.js";
import { type HttpInput, requestBytes } from "./json-map.js";
import { answerMessage, type ManagementRoute, orRefuseCaller } from "./management-route.js";

const METHOD = AccountServiceService.getStatement;
const PAGE_SIZE = 1_000;

/** Answers with JSON, or with CSV where that was asked for: all of it, or one page where its size was named. */
export async function answerStatement(
  request: FastifyRequest,
  reply: FastifyReply,
  input: HttpInput,
  route: ManagementRoute,
): Promise<FastifyReply> {
  const { csv, query } = await orRefuseCaller(request, route, () => formOf(request));
  const asked = { ...input, query };
  if (!csv) return answerMessage(request, reply, asked, route);
  const bytes = await orRefuseCaller(request, route, () => requestBytes(route.desc, asked));
  return answerCsv(request, reply, route.front, METHOD.requestDeserialize(bytes));
}

/** Whether CSV is wanted, and the query without its `format`, which is not the method's. */
function formOf(request: FastifyRequest): { readonly csv: boolean; readonly query: unknown } {
  if (!isRecord(request.query)) return { csv: false, query: request.query };
  const { format, ...query } = request.query;
  if (format !== undefined && format !== "csv" && format !== "json") refuse("format", "must be csv or json");
  const accepts = /(?:^|,)\s*text\/csv\b/i.test(request.headers.accept ?? "");
  return { csv: format === undefined ? accepts : format === "csv", query };
}

async function answerCsv(
  request: FastifyRequest,
  reply: FastifyReply,
  front: Front,
  asked: GetStatementRequest,
): Promise<FastifyReply> {
  const options = front.callOptions(request, goneSignal(reply));
  const isOnePage = asked.pageSize !== 0;
  // The first page comes before the head, so that a refusal has its status.
  const first = { ...asked, pageSize: isOnePage ? asked.pageSize : PAGE_SIZE };
  const { message, head } = await front.channel.unary(METHOD, first, options);
  reply
    .headers(front.headers(request, head))
    .header("content-disposition", `attachment; filename="statement-${asked.id}.csv"`)
    .type("text/csv; charset=utf-8; header=present");
  if (!isOnePage) return reply.send(Readable.from(allPages(front, first, message, options)));
  return reply
    .header("x-tollgate-next-page-token", message.nextPageToken)
    .send(statementHead(message) + statementLines(message) + statementEnd(message));
}

/** A page that fails cuts the answer, which then has no closing balance. */
async function* allPages(
  front: Front,
  asked: GetStatementRequest,
  first: GetStatementResponse,
  options: CallOptions,
): AsyncGenerator<string> {
  let page = first;
  yield statementHead(page) + statementLines(page);
  while (page.nextPageToken !== "") {
    const next = await front.channel.unary(METHOD, { ...asked, pageToken: page.nextPageToken }, options);
    page = next.message;
    yield statementLines(page);
  }
  yield statementEnd(page);
}
