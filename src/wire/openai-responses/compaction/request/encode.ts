/** The body for an upstream that compacts: the client's own. */
import { ResponsesRequest } from "../../request/decode.js";
import { spliceOwned } from "../../request/encode.js";
import { scanRequest } from "../../request/scan.js";
import type { UpstreamWire } from "../../../wire.js";
import { WIRE_NAME } from "../facts.js";

const LIMIT = "max_output_tokens";

/** The client's own body, with what the gateway owns: such an upstream is told no limit, and runs no tool. */
export const encodeRequest: UpstreamWire["encodeRequest"] = (request, owned, _dialect, dropped = []) => {
  const { source } = request;
  if (source?.wire !== WIRE_NAME) throw new Error("only a body of the wire goes to an upstream of it");
  const scan = request instanceof ResponsesRequest ? request.scan : scanRequest(source.body);
  const toolOrders = owned.toolOrders && { ...owned.toolOrders, unbounded: [] };
  // A limit of the client's would be one that nothing was held for.
  if (scan.members.some(({ key }) => key === LIMIT)) dropped.push(LIMIT);
  return spliceOwned(source.body, scan, { ...owned, outputTokensMax: undefined, toolOrders }, [LIMIT]);
};
