/** FrontService: what our own front ends ask for their clients, with the clients' keys. */
import {
  ErrorReason,
  FrontServiceService,
  InferenceServiceService,
  type ReportedRefusal,
  type ReportUndeliveredRequest,
  type StreamGenerateResponse,
  UsageSource,
} from "../../api/index.js";
import { requiredMethod } from "../../api/methods.js";
import { NO_USAGE } from "../../api/usage.js";
import { Ask } from "../../gateway/replay/ask.js";
import { requireUnfrozen } from "../../keys/account-freeze.js";
import { bodyTooLarge } from "../../base/bytes/body-limit.js";
import { required } from "../../api/check.js";
import type { CallMetadata } from "../../api/channel.js";
import { GatewayError, isReasonName } from "../../base/errors.js";
import type { Caller } from "../../keys/caller.js";
import { credentialOf } from "../../keys/credential.js";
import { CLIENT_ADDRESS_HEADER, FRONT_HEADER, isFront } from "../call/client-address.js";
import type { CoreParts } from "../call/core.js";
import type { Handlers } from "../call/handler.js";
import type { EdgeRefusal } from "../call/server-call.js";
import { requireScope } from "../call/permission.js";

/** The most bytes of an answer that is handed back. */
const UNDELIVERED_BYTES_MAX = 4 * 1024 * 1024;

/** Refusals that are told at once. */
const REFUSALS_MAX = 100;
const REQUEST_ID = /^req_[0-9a-f]{32}$/;
/** Facts of one refusal, and the characters of each. */
const FACTS_MAX = 16;
const FACT_CHARACTERS_MAX = 400;

/** `refused` logs and records a refusal of an edge. */
export function frontService(
  { keys, limits, replays, frontTokens }: Pick<CoreParts, "keys" | "limits" | "replays" | "frontTokens">,
  refused: (error: GatewayError, refusal: EdgeRefusal) => void,
): Handlers<typeof FrontServiceService> {
  return {
    async reportRefusals({ refusals }, { metadata, local }) {
      if (!local && !isFront(metadata[FRONT_HEADER], frontTokens))
        throw new GatewayError("ERROR_REASON_PATH_UNKNOWN", { path: FrontServiceService.reportRefusals.path });
      for (const refusal of refusals.slice(0, REFUSALS_MAX)) {
        const caller = await knownCaller(refusal.metadata, keys);
        const error = errorOf(refusal);
        if (error !== undefined) refused(error, edgeOf(refusal, caller));
      }
      return {};
    },
    async checkCaller({ scope, beginsRequest }, { caller }) {
      if (scope !== "") requireScope(scope, caller);
      if (beginsRequest) {
        requireUnfrozen(caller);
        await limits.check(caller);
      }
      return { accountId: caller.accountId };
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

/** Whose request it was; undefined where that cannot be told any more. */
async function knownCaller(metadata: CallMetadata, keys: CoreParts["keys"]): Promise<Caller | undefined> {
  try {
    const secret = credentialOf(metadata);
    return secret === undefined ? undefined : await keys.authenticate(secret);
  } catch {
    return undefined;
  }
}

function errorOf({ reason, facts }: ReportedRefusal): GatewayError | undefined {
  const name = ErrorReason[reason] ?? "";
  if (!isReasonName(name)) return undefined;
  const told = Object.entries(facts).slice(0, FACTS_MAX);
  return new GatewayError(
    name,
    Object.fromEntries(told.map(([fact, text]) => [fact, text.slice(0, FACT_CHARACTERS_MAX)])),
  );
}

function edgeOf({ requestId, route, method, metadata }: ReportedRefusal, caller: Caller | undefined): EdgeRefusal {
  return {
    path: route.slice(0, FACT_CHARACTERS_MAX),
    method,
    isFront: true,
    requestId: REQUEST_ID.test(requestId) ? requestId : undefined,
    metadata,
    caller,
    address: metadata[CLIENT_ADDRESS_HEADER] ?? "",
    // The front end logs its own faults.
    isLogged: true,
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
