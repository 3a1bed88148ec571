/** What tenants can ask for and no limit of a request counts. */
import { methods } from "../../src/api/descriptors.js";
import { InferenceServiceService } from "../../src/api/index.js";
import { beginsRequest } from "../../src/rpc/call/begins-request.js";

export const TENANT_METHODS = methods().filter(
  ({ path, permission }) =>
    permission !== undefined &&
    permission.open !== true &&
    permission.user !== true &&
    permission.front !== true &&
    !permission.operator &&
    !["operator", "members"].includes(permission.scope) &&
    !beginsRequest(path) &&
    // It reads on what a request began, whose clients may come back all at once.
    path !== InferenceServiceService.resumeStream.path,
);
