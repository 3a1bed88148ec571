/** FrontService: what our own front ends ask for their clients, with the clients' keys. */
import {
  type FrontServiceService,
  InferenceServiceService,
  type ReportUndeliveredRequest,
  type StreamGenerateResponse,
  UsageSource,
} from "../api/index.js";
import { requiredMethod } from "../api/methods.js";
import { NO_USAGE } from "../api/usage.js";
import { Ask } from "../gateway/replay/ask.js";
import { requireUnfrozen } from "../keys/account-freeze.js";
import { bodyTooLarge } from "./bounds.js";
import { required } from "../api/check.js";
import type { CoreParts } from "./core.js";
import type { Handlers } from "./handler.js";
import { requireScope } from "./permission.js";

/** The most bytes of an answer that is handed back. */
const UNDELIVERED_BYTES_MAX = 4 * 1024 * 1024;

export function frontService({
  keys,
  limits,
  replays,
}: Pick<CoreParts, "keys" | "limits" | "replays">): Handlers<typeof FrontServiceService> {
  return {
    async checkCaller({ scope, beginsRequest }, { caller }) {
      if (scope !== "") requireScope(scope, caller);
      if (beginsRequest) {
        requireUnfrozen(caller);
        await limits.check(caller);
      }
      return {};
    },
    watchCaller: (_request, { caller, signal }) => keys.watch(caller, signal),
    reportUndelivered: async (request, { caller }) => {
      const requestId = required("request_id", request.requestId);
      if (request.body.length > UNDELIVERED_BYTES_MAX) throw bodyTooLarge();
      const { path } = InferenceServiceService.streamGenerate;
      const ask = new Ask<unknown, unknown>(requiredMethod(path), request.request ?? { acceptWire: "" }, {});
      await replays?.keepUndelivered(requestId, caller, ask, request.headers, lostAnswer(request));
      return {};
    },
  };
}

/**
 * The answer as its own upstream would have sent it; undefined where it was too large to come. What it cost was told to
 * the attempt that was lost.
 */
function lostAnswer({ body }: ReportUndeliveredRequest): StreamGenerateResponse | undefined {
  if (body.length === 0) return undefined;
  const finish = { usage: NO_USAGE, usageSource: UsageSource.USAGE_SOURCE_NONE, costNanos: 0n };
  return { events: [{ kind: { $case: "finish", value: finish } }], source: Buffer.from(body) };
}
