/** The record of a change of a key: what it may do and when it ends, and nothing that leads to its secret. */
import { KeySettings } from "../api/index.js";
import { type Act, type AuditEvent, eventOf } from "../audit/act.js";
import { changeOf } from "../audit/snapshot.js";
import type { KeyRow } from "../store/store.js";

/** Before it was made a key is undefined. */
export function keyEvent(act: Act, before: KeyRow | undefined, after: KeyRow): AuditEvent {
  const told = changeOf({ before: before && factsOf(before), after: factsOf(after) });
  return eventOf(act, { resource: `keys/${after.id}`, accountId: after.accountId, ...told });
}

/** A hint tells one secret from another to people, who see it in every list. */
function factsOf({
  settings,
  accountId,
  makerId,
  hint,
  revokeTimeMs,
  previousUntilMs,
  fileState = "",
}: KeyRow): object {
  const revokeTime = revokeTimeMs === null ? undefined : new Date(revokeTimeMs);
  const ofFile = fileState === "" ? {} : { fileState };
  const previousSecretUntil = previousUntilMs === null ? undefined : new Date(previousUntilMs);
  return { accountId, makerId, ...KeySettings.decode(settings), hint, ...ofFile, revokeTime, previousSecretUntil };
}
