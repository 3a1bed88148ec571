/** What the front end of this process refused by itself, told where refusals of the services are told. */
import type { FrontRefusal } from "../http/front.js";
import { CLIENT_ADDRESS_HEADER } from "../rpc/call/client-address.js";
import { Admitted } from "../rpc/call/admitted.js";
import type { Dispatcher } from "../rpc/methods/service-table.js";

export function recordFrontRefusal(refusal: FrontRefusal, dispatcher: Pick<Dispatcher, "refusedAtEdge">): void {
  const { error, requestId, route, method, metadata, admission } = refusal;
  const caller = admission instanceof Admitted ? admission.caller : undefined;
  const address = metadata[CLIENT_ADDRESS_HEADER] ?? "";
  // The front end logs its own faults.
  const isLogged = error.reason === "ERROR_REASON_INTERNAL";
  dispatcher.refusedAtEdge(error, {
    path: route,
    method,
    isFront: true,
    requestId,
    metadata,
    caller,
    address,
    isLogged,
  });
}
