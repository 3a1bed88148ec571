/** The management routes under `/api/v1`, made of the proto's google.api.http options: few have code of their own. */
import type { FastifyInstance } from "fastify";
import { type HttpRule, type MethodDescription, methods } from "../api/descriptors.js";
import { requiredMethod } from "../api/methods.js";
import {
  AccountServiceService,
  AuditServiceService,
  InferenceServiceService,
  PaymentServiceService,
  UsageServiceService,
} from "../api/index.js";
import { addEstimateRoutes, answerEstimate } from "./estimate.js";
import { type EventStreamParts, streamedAnswerOf } from "./event-stream.js";
import type { Front } from "./front.js";
import { flatRecord } from "./headers.js";
import {
  answerMessage,
  MANAGEMENT_BODY_BYTES_MAX,
  type ManagementAnswer,
  type ManagementRoute,
} from "./management-call.js";
import { pathUnknown } from "./not-found.js";
import { answerRequestList } from "./request-list-answer.js";
import type { RouteTable } from "./routes.js";
import { answerStripeEvent, EVENT_BYTES_MAX } from "./stripe-event.js";
import { answerAudit, answerStatement, answerSummaries } from "./statement.js";
import { answerUsage } from "./usage-answer.js";

/** The methods that HTTP also asks or answers in a form that is not their message, by their path. */
const OWN_FORMS: ReadonlyMap<string, ManagementAnswer> = new Map([
  [AccountServiceService.getStatement.path, answerStatement],
  [AuditServiceService.listAuditEvents.path, answerAudit],
  [InferenceServiceService.estimateCost.path, answerEstimate],
  [PaymentServiceService.handleStripeEvent.path, answerStripeEvent],
  [UsageServiceService.listRequests.path, answerRequestList],
  [UsageServiceService.queryUsage.path, answerUsage],
  [UsageServiceService.summarizeUsage.path, answerSummaries],
]);

export function addManagementRoutes(
  app: FastifyInstance,
  front: Front,
  routes: RouteTable,
  streams: EventStreamParts,
): void {
  const answerStream = streamedAnswerOf(streams);
  for (const method of methods()) {
    if (method.http === undefined) continue;
    const answer = requiredMethod(method.path).responseStream ? answerStream : answerMessage;
    addRoute(app, { front, routes, answer }, method, method.http);
  }
  addEstimateRoutes(app, front);
}

function addRoute(
  app: FastifyInstance,
  { front, routes, answer: answerOfKind }: { front: Front; routes: RouteTable; answer: ManagementAnswer },
  described: MethodDescription,
  http: HttpRule,
): void {
  const { path, permission } = described;
  const method = requiredMethod(path);
  if (permission === undefined) throw new Error(`${path} has no permission`);
  const scope = permission.operator ? "operator" : permission.scope;
  const rest = restField(http.pattern);
  const isOpen = permission.open === true;
  const route: ManagementRoute = {
    front,
    get desc() {
      return described.desc;
    },
    method,
    scope,
    isOpen,
  };
  const answer = OWN_FORMS.get(path) ?? answerOfKind;
  const needs = isOpen ? "public" : { scope, method: path };
  app.route({
    method: http.verb,
    url: routeUrl(http.pattern),
    config: { permission: needs, ...bodyBoundOf(path) },
    handler: (request, reply) => {
      const { "*": last = "", ...params } = flatRecord(request.params);
      const named = rest === undefined ? params : { ...params, [rest]: last };
      // A path that ends in a slash is not the resource without a name.
      if (Object.values(named).includes("")) throw pathUnknown(request.method, request.url, routes);
      const body = http.body === "" ? undefined : bodyBytes(request.body);
      return answer(request, reply, { path: named, query: request.query, body }, route);
    },
  });
}

/** Forms that are clients' own may be as long as those are. */
function bodyBoundOf(path: string): { readonly bodyBytesMax?: number } {
  if (path === PaymentServiceService.handleStripeEvent.path) return { bodyBytesMax: EVENT_BYTES_MAX };
  return OWN_FORMS.has(path) ? {} : { bodyBytesMax: MANAGEMENT_BODY_BYTES_MAX };
}

function bodyBytes(body: unknown): Buffer {
  return Buffer.isBuffer(body) ? body : Buffer.alloc(0);
}

/** A pattern of google.api.http as Fastify writes it. */
function routeUrl(pattern: string): string {
  return pattern
    .replaceAll(":", "::")
    .replaceAll(/\{\w+=\*\*\}/g, "*")
    .replaceAll(/\{(\w+)\}::/g, ":$1(^[^:]+)::")
    .replaceAll(/\{(\w+)\}/g, ":$1");
}

/** The field that takes the rest of the path, as in `{id=**}`. */
function restField(pattern: string): string | undefined {
  return /\{(\w+)=\*\*\}/.exec(pattern)?.[1];
}
