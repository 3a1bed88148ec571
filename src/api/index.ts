/** Every message and service of the protocol, under one import. */
export * from "../../gen/tollgate/internal/v1/front_service.js";
export * from "../../gen/tollgate/internal/v1/tunnel_service.js";
export * from "../../gen/tollgate/v1/account_service.js";
export * from "../../gen/tollgate/v1/content.js";
export * from "../../gen/tollgate/v1/error_reason.js";
export * from "../../gen/tollgate/v1/event.js";
export * from "../../gen/tollgate/v1/generation.js";
export * from "../../gen/tollgate/v1/identity_service.js";
export * from "../../gen/tollgate/v1/inference_service.js";
export * from "../../gen/tollgate/v1/key_service.js";
export * from "../../gen/tollgate/v1/model_service.js";
export * from "../../gen/tollgate/v1/node_service.js";
export * from "../../gen/tollgate/v1/upstream_service.js";
export * from "../../gen/tollgate/v1/usage.js";
export * from "../../gen/tollgate/v1/usage_service.js";
