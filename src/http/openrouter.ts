/** Where OpenRouter's clients read about their key, their credit and one request. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { CallMetadata } from "../api/channel.js";
import { AccountServiceService, KeyServiceService, UsageServiceService } from "../api/index.js";
import { required } from "../api/check.js";
import { DAY_MS, dayNumber, mondayOf } from "../base/day.js";
import { GatewayError } from "../base/errors.js";
import { openRouterCredits, openRouterGeneration, openRouterKey } from "../formats/openrouter-accounts.js";
import { type Front, goneSignal, HttpFormatRequest } from "./front.js";

/** OpenRouter's clients have the first in their base URL; clients of OpenAI have the second. */
const PREFIXES = ["/api/v1", "/v1"] as const;
const CONFIG = { config: { permission: { scope: "usage" }, isClientApi: true } } as const;
const ANY = {
  groupBy: [],
  endTime: undefined,
  model: "",
  upstream: "",
  endUser: "",
  tag: "",
  reason: "",
  valuesMax: 0,
  timeZone: "",
  tagName: "",
  httpStatus: 0,
};

type Answer = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;

/** `timeMs` is the time of day, which says when the week began. Absent: the week is the last day. */
export function addOpenRouterRoutes(app: FastifyInstance, front: Front, timeMs: (() => number) | undefined): void {
  const routes: readonly (readonly [path: string, answer: Answer])[] = [
    ["/key", keyAnswer(front, timeMs)],
    // The older name of the same.
    ["/auth/key", keyAnswer(front, timeMs)],
    ["/credits", creditsAnswer(front)],
    ["/generation", generationAnswer(front)],
  ];
  for (const prefix of PREFIXES) for (const [path, answer] of routes) app.get(prefix + path, CONFIG, answer);
}

function keyAnswer(front: Front, timeMs: (() => number) | undefined): Answer {
  return async (request, reply) => {
    const options = front.callOptions(request, goneSignal(reply));
    const { message, head } = await front.channel.unary(KeyServiceService.getCaller, {}, options);
    const { key } = message;
    if (key === undefined) return send(front, request, reply, head, {});
    const startTime = timeMs && new Date(mondayOf(dayNumber(timeMs())) * DAY_MS);
    const week = { ...ANY, keyId: key.id, accountId: key.accountId, startTime };
    const { message: used } = await front.channel.unary(UsageServiceService.queryUsage, week, options);
    const spent = used.sums.reduce((sum, { chargedNanos }) => sum + chargedNanos, 0n);
    return send(front, request, reply, head, openRouterKey(key, spent));
  };
}

function creditsAnswer(front: Front): Answer {
  return async (request, reply) => {
    const options = front.callOptions(request, goneSignal(reply));
    const { message: caller } = await front.channel.unary(KeyServiceService.getCaller, {}, options);
    const asked = { id: caller.key?.accountId ?? "" };
    const { message, head } = await front.channel.unary(AccountServiceService.getBalance, asked, options);
    return send(front, request, reply, head, openRouterCredits(message));
  };
}

function generationAnswer(front: Front): Answer {
  return async (request, reply) => {
    const options = front.callOptions(request, goneSignal(reply));
    const id = required("id", new HttpFormatRequest(request).query["id"] ?? "");
    const { message, head } = await front.channel.unary(UsageServiceService.getRequest, { id }, options);
    const body = message.request && openRouterGeneration(message.request);
    // Its clients ask again after a 404: OpenRouter shows a request only once it ended.
    if (body === undefined) throw new GatewayError("ERROR_REASON_RESOURCE_UNKNOWN", { kind: "request", id });
    return send(front, request, reply, head, body);
  };
}

function send(
  front: Front,
  request: FastifyRequest,
  reply: FastifyReply,
  head: CallMetadata,
  body: object,
): FastifyReply {
  return reply
    .headers(front.headers(request, head))
    .header("cache-control", "no-store")
    .type("application/json; charset=utf-8")
    .send(JSON.stringify(body));
}
