/** Every service of the protocol by its name, as the generated code defines it. */
import {
  AccountServiceService,
  AlertServiceService,
  AuditServiceService,
  EventServiceService,
  FrontServiceService,
  IdentityServiceService,
  InferenceServiceService,
  KeyServiceService,
  ModelServiceService,
  NodeServiceService,
  PaymentServiceService,
  PriceServiceService,
  SettingsServiceService,
  UpstreamServiceService,
  UsageServiceService,
  WebhookServiceService,
} from "./index.js";

/** The services that clients call, by the names under which health and reflection know them. */
export const PUBLIC_SERVICES = {
  "tollgate.v1.InferenceService": InferenceServiceService,
  "tollgate.v1.ModelService": ModelServiceService,
  "tollgate.v1.KeyService": KeyServiceService,
  "tollgate.v1.AccountService": AccountServiceService,
  "tollgate.v1.UsageService": UsageServiceService,
  "tollgate.v1.IdentityService": IdentityServiceService,
  "tollgate.v1.PaymentService": PaymentServiceService,
  "tollgate.v1.SettingsService": SettingsServiceService,
  "tollgate.v1.PriceService": PriceServiceService,
  "tollgate.v1.UpstreamService": UpstreamServiceService,
  "tollgate.v1.NodeService": NodeServiceService,
  "tollgate.v1.AlertService": AlertServiceService,
  "tollgate.v1.EventService": EventServiceService,
  "tollgate.v1.WebhookService": WebhookServiceService,
  "tollgate.v1.AuditService": AuditServiceService,
};

/** Every service whose calls the core runs: the public ones, and what only our own front ends call. */
export const SERVED_SERVICES = { ...PUBLIC_SERVICES, "tollgate.internal.v1.FrontService": FrontServiceService };
