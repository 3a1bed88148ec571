/** Sums of usage over HTTP, as JSON or CSV: written piece by piece, for there may be 20,000 of them. */
import { Readable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { UsageServiceService } from "../api/index.js";
import type { QueryUsageResponse, UsageSum } from "../api/index.js";
import { usageHead, usageLine } from "../api/usage-csv.js";
import { formOf } from "./csv-pages.js";
import { goneSignal } from "./front.js";
import { requestBytes, responseJson } from "./json-map.js";
import { isOfSession } from "./session-cookie.js";
import { type ManagementAnswer, type ManagementRoute, orRefuseCaller } from "./management-route.js";

const { queryUsage } = UsageServiceService;
/** What is written in one turn of the event loop. */
const PIECE_SUMS = 100;

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
  if (isCsv) {
    reply
      .header("content-disposition", 'attachment; filename="usage.csv"')
      .type("text/csv; charset=utf-8; header=present");
    return reply.send(Readable.from(pieces(message, usageHead(asked.groupBy), csvPiece, "")));
  }
  reply.type("application/json; charset=utf-8");
  if (message.sums.length <= PIECE_SUMS) return reply.send(responseJson(desc, queryUsage.responseSerialize(message)));
  return reply.send(Readable.from(pieces(message, '{"sums":[', jsonPieces(route), "]}")));
};

function csvPiece(sums: readonly UsageSum[]): string {
  return sums.map(usageLine).join("");
}

/** What stands between the brackets of a list of these alone. */
function jsonPieces({ desc }: ManagementRoute): (sums: UsageSum[], isFirst: boolean) => string {
  return (sums, isFirst) => {
    const json = responseJson(desc, queryUsage.responseSerialize({ sums }));
    return (isFirst ? "" : ",") + json.slice(json.indexOf("[") + 1, json.lastIndexOf("]"));
  };
}

async function* pieces(
  { sums }: QueryUsageResponse,
  begin: string,
  write: (sums: UsageSum[], isFirst: boolean) => string,
  end: string,
): AsyncGenerator<string> {
  yield begin;
  for (let at = 0; at < sums.length; at += PIECE_SUMS) {
    yield write(sums.slice(at, at + PIECE_SUMS), at === 0);
    await nextTurn();
  }
  yield end;
}
