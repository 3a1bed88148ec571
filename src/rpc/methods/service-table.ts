/** Every service with its handlers: what the server offers and what the dispatcher runs. */
import { auditService } from "./audit-service.js";
import { accountService } from "./account-service.js";
import { alertService } from "./alert-service.js";
import { methodByPath } from "../../api/descriptors.js";
import { SERVED_SERVICES } from "../../api/service-list.js";
import type { CoreParts } from "../call/core.js";
import { Dispatcher } from "../call/dispatcher.js";
import type { Route } from "../call/route.js";
import { eventService } from "./event-service.js";
import { frontService } from "./front-service.js";
import type { Handlers, StreamHandler, UnaryHandler } from "../call/handler.js";
import { identityService } from "./identity-service.js";
import { inferenceService } from "./inference-service.js";
import { keyService } from "./key-service.js";
import { streamWithMoney, withMoney } from "./money-messages.js";
import { modelService } from "./model-service.js";
import { nodeService } from "./node-service.js";
import { paymentService } from "./payment-service.js";
import { priceService } from "./price-service.js";
import { settingsService } from "./settings-service.js";
import { upstreamService } from "./upstream-service.js";
import { usageService } from "./usage-service.js";
import { webhookService } from "./webhook-service.js";

export type { Dispatcher } from "../call/dispatcher.js";

type Services = typeof SERVED_SERVICES;
type AllHandlers = { readonly [Name in keyof Services]: Handlers<Services[Name]> };

/** The way into all services of the core. Throws where a method declares no permission. */
export function createDispatcher(core: CoreParts): Dispatcher {
  const { alerts, topUpCodes, cardPayments, nowMs } = core;
  const handlers: AllHandlers = {
    "tollgate.v1.InferenceService": inferenceService(core),
    "tollgate.v1.ModelService": modelService(core),
    "tollgate.v1.KeyService": keyService(core),
    "tollgate.v1.AccountService": accountService(core),
    "tollgate.v1.UsageService": usageService(core),
    "tollgate.v1.IdentityService": identityService(core),
    "tollgate.v1.PaymentService": paymentService(topUpCodes, cardPayments, nowMs),
    "tollgate.v1.SettingsService": settingsService(core),
    "tollgate.v1.PriceService": priceService(core),
    "tollgate.v1.UpstreamService": upstreamService(core),
    "tollgate.v1.NodeService": nodeService(core),
    "tollgate.v1.AlertService": alertService(alerts),
    "tollgate.v1.EventService": eventService(alerts),
    "tollgate.v1.WebhookService": webhookService(alerts, nowMs),
    "tollgate.v1.AuditService": auditService(core, () => dispatcher.audit.flush()),
    "tollgate.internal.v1.FrontService": frontService(core, (error, refusal) =>
      dispatcher.refusedAtEdge(error, refusal),
    ),
  };
  const dispatcher: Dispatcher = new Dispatcher(
    core,
    Object.entries(SERVED_SERVICES).flatMap(([name, service]) => routes(service, handlers[name as keyof Services])),
  );
  return dispatcher;
}

/** The handlers of one service by path. The types pair messages with handlers here, for the last time. */
function routes<Service extends Readonly<Record<string, { readonly path: string; readonly responseStream: boolean }>>>(
  service: Service,
  handlers: Handlers<Service>,
): readonly Route[] {
  return Object.entries(service).map(([name, { path, responseStream }]) => {
    const handler: unknown = handlers[name];
    const method = methodByPath(path);
    return responseStream
      ? { path, stream: streamWithMoney(method, handler as StreamHandler<unknown, unknown>) }
      : { path, unary: withMoney(method, handler as UnaryHandler<unknown, unknown>) };
  });
}
