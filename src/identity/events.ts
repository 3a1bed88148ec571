/** The records of what people do with their sessions. */
import { type Act, type AuditEvent, eventOf } from "../audit/act.js";
import type { UserRow } from "../store/people-rows.js";

/** Of what a stranger did who is somebody since. */
export function by(act: Act, { id }: UserRow): Act {
  return { ...act, actor: { ...act.actor, kind: "user", id } };
}

export function sessionEvent(act: Act, id: string): AuditEvent {
  return eventOf(act, { resource: `sessions/${id}`, accountId: "" });
}
