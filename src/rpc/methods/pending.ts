/** What a change's answer says where it is durable, but other nodes could not be told of it yet. */
import type { CallMetadata } from "../../api/channel.js";

/** Within how many seconds the change holds on every node. */
export const PENDING: CallMetadata = Object.freeze({ "x-tollgate-pending-seconds": "30" });
