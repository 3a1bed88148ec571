/** AuditService: who changed what, for operators and, of their own account, for keys with the scope. */
import {
  type Actor,
  ActorKind,
  AuditDoor,
  type AuditEvent,
  AuditResult,
  type AuditServiceService,
} from "../../api/index.js";
import { methods } from "../../api/descriptors.js";
import type { ActorKind as Kind, AuditResult as Result, Door } from "../../audit/act.js";
import type { Caller } from "../../keys/caller.js";
import type { AuditRow } from "../../store/store.js";
import { methodName } from "../call/call-audit.js";
import type { CoreParts } from "../call/core.js";
import type { Handlers } from "../call/handler.js";
import { accountFilter, isOperator } from "../call/account-scope.js";
import { pageOf } from "./page.js";
import { periodOf } from "./period.js";

const KINDS: Readonly<Record<Kind, ActorKind>> = {
  key: ActorKind.ACTOR_KIND_KEY,
  user: ActorKind.ACTOR_KIND_USER,
  cli: ActorKind.ACTOR_KIND_CLI,
  file: ActorKind.ACTOR_KIND_FILE,
  gateway: ActorKind.ACTOR_KIND_GATEWAY,
};
const DOORS: Readonly<Record<Door, AuditDoor>> = {
  http: AuditDoor.AUDIT_DOOR_HTTP,
  grpc: AuditDoor.AUDIT_DOOR_GRPC,
  cli: AuditDoor.AUDIT_DOOR_CLI,
  console: AuditDoor.AUDIT_DOOR_CONSOLE,
  file: AuditDoor.AUDIT_DOOR_FILE,
  gateway: AuditDoor.AUDIT_DOOR_GATEWAY,
};
const RESULTS: Readonly<Record<Result, AuditResult>> = {
  done: AuditResult.AUDIT_RESULT_DONE,
  unchanged: AuditResult.AUDIT_RESULT_UNCHANGED,
  refused: AuditResult.AUDIT_RESULT_REFUSED,
};

/** `flush` resolves once what this node refused so far is recorded. */
export function auditService(
  { store }: Pick<CoreParts, "store">,
  flush: () => Promise<void>,
): Handlers<typeof AuditServiceService> {
  return {
    async listAuditEvents(request, { caller }) {
      const { actor, resource, method, result } = request;
      const filter = {
        ...periodOf(request),
        accountId: accountFilter(caller, request.accountId),
        actorId: actor || undefined,
        resource: resource || undefined,
        methods: method === "" ? undefined : methodsNamed(method),
        result: resultOf(result),
      };
      const page = pageOf(request);
      await flush();
      const { rows, nextPageToken } = await store.audit.list(filter, page);
      return { auditEvents: rows.map((row) => eventOf(row, caller)), nextPageToken };
    },
  };
}

/** A method by its whole name, or by what stands behind the dot, whatever service it is of. */
function methodsNamed(name: string): readonly string[] {
  if (name.includes(".")) return [name];
  const named = methods().map(({ path }) => methodName(path));
  return [name, ...named.filter((whole) => whole.endsWith(`.${name}`))];
}

/** An unspecified one narrows nothing. */
function resultOf(asked: AuditResult): Result | undefined {
  const [found] = Object.entries(RESULTS).find(([, result]) => result === asked) ?? [];
  return found === "done" || found === "unchanged" || found === "refused" ? found : undefined;
}

function eventOf(row: AuditRow, caller: Caller): AuditEvent {
  const { sequence, timeMs, actor, method, resource, accountId, result, reason, before, after, transferId } = row;
  const shown = actorOf(row.actor, isOperator(caller) || actor.accountId === caller.accountId);
  const told = { method, resource, accountId, reason, before, after, transferId };
  return { ...told, sequence: BigInt(sequence), time: new Date(timeMs), actor: shown, result: RESULTS[result] };
}

/** Where the operator's people sit is nobody else's business. */
function actorOf({ kind, id, name, accountId, door, address, requestId }: AuditRow["actor"], isWhole: boolean): Actor {
  const where = isWhole ? { address, requestId } : { address: "", requestId: "" };
  return { kind: KINDS[kind], id, name, accountId, door: DOORS[door], ...where };
}
