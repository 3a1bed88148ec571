/** The audit log of calls: what each management call is recorded as, and that none is left out. */
import { CLIENT_HEADER, CONSOLE_HEADER } from "../../api/request-headers.js";
import type { CallMetadata } from "../../api/channel.js";
import { methodByPath } from "../../api/descriptors.js";
import {
  type Act,
  type Actor,
  type AuditEvent,
  type AuditResult,
  type Door,
  eventOf,
  isWritten,
} from "../../audit/act.js";
import { changeOf } from "../../audit/snapshot.js";
import type { GatewayError } from "../../base/errors.js";
import type { Caller } from "../../keys/caller.js";
import type { Log } from "../../observe/log.js";
import type { AuditStore } from "../../store/store.js";
import { FRONT_HEADER, isFront, type Origin } from "./client-address.js";
import type { Head } from "./head.js";
import { isOperator } from "./account-scope.js";

/** Strangers could fill the disk: of one caller, and of many, so many calls without a change are recorded a minute. */
const RECORDS_OF_ONE_MAX = 30;
/** Of the callers of one account, and of all who showed nothing that we know: neither leaves others out. */
const RECORDS_OF_MANY_MAX = 120;
const RECORDS_OF_ALL_MAX = 300;
const MINUTE_MS = 60_000;
const RESOURCE_MAX = 256;

/** What of a call is known besides its head. */
export interface AuditedCall {
  readonly path: string;
  readonly metadata: CallMetadata;
  /** True where it came over HTTP. */
  readonly isFront: boolean;
}

export function auditedCall(
  path: string,
  { metadata, local }: Pick<Origin, "metadata" | "local">,
  frontTokens: readonly string[],
): AuditedCall {
  return { path, metadata, isFront: local || isFront(metadata[FRONT_HEADER], frontTokens) };
}

/** The act of a method that changes nothing. Whoever writes with it has a method that is declared wrongly. */
export const NO_ACT: Act = {
  get actor(): Actor {
    throw new Error("a method that is declared as a read changed something");
  },
  method: "",
  timeMs: 0,
};

export class CallAudit {
  /** What was recorded in this minute, by result and by caller or address. */
  readonly #recorded = new Map<string, number>();
  #minute = 0;
  #leftOut = 0;
  readonly #writing = new Set<Promise<void>>();

  constructor(
    private readonly store: AuditStore,
    private readonly nowMs: () => number,
    private readonly log: Log | undefined,
  ) {}

  actOf({ path, metadata, isFront }: AuditedCall, { caller, address = "", requestId }: Head): Act {
    const door = doorOf(metadata, isFront);
    return { actor: actorOf(caller, { door, address, requestId }), method: methodName(path), timeMs: this.nowMs() };
  }

  /** Adds the record of a call that was answered, where none was written with its change. */
  async answered(act: Act, path: string, request: unknown): Promise<void> {
    if (isWritten(act)) return;
    const { actor } = act;
    // Of strangers no more is recorded where they are answered than where they are refused.
    const result: AuditResult = "unchanged";
    if (actor.id === "" && !this.#mayRecord(result, actor)) return;
    await this.store.append(eventOf(act, { resource: resourceOf(path, request), accountId: actor.accountId, result }));
  }

  /** Records, behind the answer, that a call was refused. */
  refused(error: GatewayError, call: AuditedCall, request: unknown, head: Head): void {
    const act = head.act ?? this.actOf(call, head);
    const leftOut = this.#leftOut;
    const result: AuditResult = "refused";
    if (!this.#mayRecord(result, act.actor)) return;
    this.#leftOut = 0;
    const resource = resourceOf(call.path, request).slice(0, RESOURCE_MAX);
    const told = leftOut === 0 ? {} : changeOf({ after: { refusalsLeftOut: leftOut } });
    const accountId = accountOf(head.caller, request);
    this.#write(eventOf(act, { resource, accountId, result, reason: error.reasonWord, ...told }));
  }

  /** Resolves once the refusals so far are recorded, or could not be. */
  async flush(): Promise<void> {
    await Promise.all(this.#writing);
  }

  #write(event: AuditEvent): void {
    const writing = this.store
      .append(event)
      .catch((err: unknown) => this.log?.warn({ err, request_id: event.actor.requestId }, "a refusal was not recorded"))
      .finally(() => this.#writing.delete(writing));
    this.#writing.add(writing);
  }

  /** Each result has places of its own, so that a busy sender whose calls are answered hides no refusal. */
  #mayRecord(result: AuditResult, { id, accountId, address }: Actor): boolean {
    const minute = Math.floor(this.nowMs() / MINUTE_MS);
    if (minute !== this.#minute) this.#recorded.clear();
    this.#minute = minute;
    const counted = [
      [id === "" ? `${result} from ${address}` : `${result} caller ${id}`, RECORDS_OF_ONE_MAX],
      [id === "" ? `${result} strangers` : `${result} account ${accountId || id}`, RECORDS_OF_MANY_MAX],
      [`${result} all`, RECORDS_OF_ALL_MAX],
    ] as const;
    if (counted.some(([who, most]) => (this.#recorded.get(who) ?? 0) >= most)) {
      if (result === "refused") this.#leftOut += 1;
      return false;
    }
    for (const [who] of counted) this.#recorded.set(who, (this.#recorded.get(who) ?? 0) + 1);
    return true;
  }
}

function actorOf(caller: Caller | undefined, call: Pick<Actor, "door" | "address" | "requestId">): Actor {
  const { door, address, requestId } = call;
  if (caller === undefined) return { kind: "key", id: "", name: "", accountId: "", door, address, requestId };
  const { keyId: id, accountId, settings, user } = caller;
  if (user !== undefined) return { kind: "user", id, name: "", accountId, door, address, requestId };
  return { kind: "key", id, name: settings.name, accountId, door, address, requestId };
}

function doorOf(metadata: CallMetadata, isFront: boolean): Door {
  if (metadata[CONSOLE_HEADER] !== undefined) return "console";
  if (metadata[CLIENT_HEADER] === "cli") return "cli";
  return isFront ? "http" : "grpc";
}

/** Such as `KeyService.CreateKey` for `/tollgate.v1.KeyService/CreateKey`. */
export function methodName(path: string): string {
  return path.slice(path.lastIndexOf(".") + 1).replace("/", ".");
}

/** What the call is about, as its path over HTTP names it: `accounts/acme` for `/api/v1/accounts/{id}:credit`. */
function resourceOf(path: string, request: unknown): string {
  const pattern = methodByPath(path).http?.pattern ?? "";
  const [collection = "", ...rest] = pattern.replace(/^\/api\/v1\//, "").split("/");
  const named = rest.map((part) => part.replaceAll(/\{(\w+)[^}]*\}/g, (_, name: string) => textOf(request, name)));
  const id = rest.length === 0 ? textOf(request, "id") : named.join("/").replace(/:[^:]*$/, "");
  return `${collection.replace(/:.*$/, "")}/${id}`;
}

/** Whose log tells of a refusal: the caller's own, or where an operator was refused the one that it named. */
function accountOf(caller: Caller | undefined, request: unknown): string {
  if (caller === undefined) return "";
  return isOperator(caller) ? textOf(request, "accountId") : caller.accountId;
}

function textOf(request: unknown, name: string): string {
  const value: unknown = typeof request === "object" && request !== null ? Reflect.get(request, name) : undefined;
  return typeof value === "string" ? value : "";
}
