/** Every service with its handlers: what the server offers and what the dispatcher runs. */
import {
  AccountServiceService,
  AlertServiceService,
  EventServiceService,
  AuditServiceService,
  FrontServiceService,
  IdentityServiceService,
  InferenceServiceService,
  KeyServiceService,
  ModelServiceService,
  NodeServiceService,
  PaymentServiceService,
  SettingsServiceService,
  UpstreamServiceService,
  UsageServiceService,
  WebhookServiceService,
} from "../api/index.js";
import { auditService } from "./audit-service.js";
import { accountService } from "./account-service.js";
import { alertService } from "./alert-service.js";
import { methodByPath } from "../api/descriptors.js";
import type { CoreParts } from "./core.js";
import { Dispatcher } from "./dispatcher.js";
import type { Route } from "./route.js";
import { eventService } from "./event-service.js";
import { frontService } from "./front-service.js";
import type { Handlers, StreamHandler, UnaryHandler } from "./handler.js";
import { identityService } from "./identity-service.js";
import { inferenceService } from "./inference-service.js";
import { keyService } from "./key-service.js";
import { streamWithMoney, withMoney } from "./money-messages.js";
import { modelService } from "./model-service.js";
import { nodeService } from "./node-service.js";
import { paymentService } from "./payment-service.js";
import { settingsService } from "./settings-service.js";
import { upstreamService } from "./upstream-service.js";
import { usageService } from "./usage-service.js";
import { webhookService } from "./webhook-service.js";

/** The generated definitions by the name under which health and reflection know the service. */
export const PUBLIC_SERVICES = {
  "tollgate.v1.InferenceService": InferenceServiceService,
  "tollgate.v1.ModelService": ModelServiceService,
  "tollgate.v1.KeyService": KeyServiceService,
  "tollgate.v1.AccountService": AccountServiceService,
  "tollgate.v1.UsageService": UsageServiceService,
  "tollgate.v1.IdentityService": IdentityServiceService,
  "tollgate.v1.PaymentService": PaymentServiceService,
  "tollgate.v1.SettingsService": SettingsServiceService,
  "tollgate.v1.UpstreamService": UpstreamServiceService,
  "tollgate.v1.NodeService": NodeServiceService,
  "tollgate.v1.AlertService": AlertServiceService,
  "tollgate.v1.EventService": EventServiceService,
  "tollgate.v1.WebhookService": WebhookServiceService,
  "tollgate.v1.AuditService": AuditServiceService,
};

/** Every service whose calls the dispatcher runs: the public ones, and what only our own front ends call. */
export const SERVICES = [...Object.values(PUBLIC_SERVICES), FrontServiceService];

export type { Dispatcher } from "./dispatcher.js";

/** The way into all services of the core. Throws where a method declares no permission. */
export function createDispatcher(core: CoreParts): Dispatcher {
  const dispatcher: Dispatcher = new Dispatcher(core, [
    ...routes(InferenceServiceService, inferenceService(core)),
    ...routes(ModelServiceService, modelService(core)),
    ...routes(KeyServiceService, keyService(core)),
    ...routes(AccountServiceService, accountService(core)),
    ...routes(UsageServiceService, usageService(core)),
    ...routes(IdentityServiceService, identityService(core)),
    ...routes(PaymentServiceService, paymentService(core.topUpCodes, core.cardPayments, core.nowMs)),
    ...routes(SettingsServiceService, settingsService(core)),
    ...routes(UpstreamServiceService, upstreamService(core)),
    ...routes(NodeServiceService, nodeService(core)),
    ...routes(AlertServiceService, alertService(core.alerts)),
    ...routes(EventServiceService, eventService(core.alerts)),
    ...routes(WebhookServiceService, webhookService(core.alerts, core.nowMs)),
    ...routes(
      AuditServiceService,
      auditService(core, () => dispatcher.audit.flush()),
    ),
    ...routes(
      FrontServiceService,
      frontService(core, (error, refusal) => dispatcher.refusedAtEdge(error, refusal)),
    ),
  ]);
  return dispatcher;
}

/** The handlers of one service by path. The types pair messages with handlers here, for the last time. */
export function routes<
  Service extends Readonly<Record<string, { readonly path: string; readonly responseStream: boolean }>>,
>(service: Service, handlers: Handlers<Service>): readonly Route[] {
  return Object.entries(service).map(([name, { path, responseStream }]) => {
    const handler: unknown = handlers[name];
    const { desc } = methodByPath(path);
    return responseStream
      ? { path, stream: streamWithMoney(desc, handler as StreamHandler<unknown, unknown>) }
      : { path, unary: withMoney(desc, handler as UnaryHandler<unknown, unknown>) };
  });
}
