/** Sums of usage over HTTP, as JSON or CSV: written piece by piece, for there may be 20,000 of them. */
import { Readable } from "node:stream";
import { UsageServiceService } from "../api/index.js";
import type { UsageSum } from "../api/index.js";
import { usageHead, usageLine } from "../api/usage-csv.js";
import { usageJson } from "../api/usage-json.js";
import { formOf } from "./csv-pages.js";
import { goneSignal } from "./front.js";
import { requestBytes } from "./json-map.js";
import { type ManagementAnswer, orRefuseCaller } from "./management-call.js";
import { pieces } from "./time-sliced.js";
import { isOfSession } from "./session-cookie.js";

const { queryUsage } = UsageServiceService;
/** What is written between two looks at the time. */
const PIECE_SUMS = 40;

/** Nothing is sent before all sums are there, so that an answer is complete or refused. */
export const answerUsage: ManagementAnswer = async (request, reply, input, route) => {
  const { front, desc } = route;
  const { isCsv, asked } = await orRefuseCaller(request, route, () => {
    const { csv, query } = formOf(request);
    return { isCsv: csv, asked: queryUsage.requestDeserialize(requestBytes(desc, { ...input, query })) };
  });
  const { message, head } = await front.channel.unary(queryUsage, asked, front.callOptions(request, goneSignal(reply)));
  reply.headers(front.headers(request, head));
  // What people see of themselves and of others is in no cache.
  if (isOfSession(request)) reply.header("cache-control", "no-store");
  const { sums } = message;
  if (isCsv) {
    reply
      .header("content-disposition", 'attachment; filename="usage.csv"')
      .type("text/csv; charset=utf-8; header=present");
    return reply.send(
      Readable.from(pieces(sums, PIECE_SUMS, { begin: usageHead(asked.groupBy), write: csv, end: "" })),
    );
  }
  reply.type("application/json; charset=utf-8");
  if (sums.length <= PIECE_SUMS) return reply.send(`{"sums":[${json(sums, true)}]}`);
  return reply.send(Readable.from(pieces(sums, PIECE_SUMS, { begin: '{"sums":[', write: json, end: "]}" })));
};

function csv(sums: readonly UsageSum[]): string {
  return sums.map((sum) => usageLine(sum)).join("");
}

function json(sums: readonly UsageSum[], isFirst: boolean): string {
  return (isFirst ? "" : ",") + sums.map(usageJson).join(",");
}
