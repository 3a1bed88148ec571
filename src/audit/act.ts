/** Who changes something, through which door, and what is kept of it: the forms of the audit log. */

/**
 * What an actor is: an API key, a person who signed in, a command that works on the database itself, the settings file,
 * or the gateway by itself.
 */
export type ActorKind = "key" | "user" | "cli" | "file" | "gateway";

/** The way that a change came in. */
export type Door = "http" | "grpc" | "cli" | "console" | "file" | "gateway";

export interface Actor {
  readonly kind: ActorKind;
  /** The id of the key or the user; of a command the name of the system's user, of a file its version. */
  readonly id: string;
  /**
   * What people call it, such as a key's name. Empty for a user: what is written stays for good, so a person's name is
   * looked up when the record is read, and can be erased.
   */
  readonly name: string;
  /** The account that the actor belongs to; empty where to none. */
  readonly accountId: string;
  readonly door: Door;
  /** An IP literal; empty where there is none. */
  readonly address: string;
  /** The id of the call; empty where it was none. */
  readonly requestId: string;
}

/** One act of an actor, of which the change itself is not known yet. Plain values: it goes to other threads. */
export interface Act {
  readonly actor: Actor;
  /** Such as `KeyService.CreateKey`, `settings.reload` or `store.backup`. */
  readonly method: string;
  readonly timeMs: number;
}

export type AuditResult = "done" | "unchanged" | "refused";

/** One record of the log, as it is written. */
export interface AuditEvent extends Act {
  /** Such as `keys/key_4f1c` or `accounts/acme`. */
  readonly resource: string;
  /** Whose it concerns; empty where it is nobody's. */
  readonly accountId: string;
  readonly result: AuditResult;
  /** The reason of a refusal, as `KEY_TOO_WIDE`; else empty. */
  readonly reason: string;
  /** What it was and what it is since, as JSON objects without secrets; empty where there was or is nothing. */
  readonly before: string;
  readonly after: string;
  /** The id of the ledger's transfer, such as `c:inv-7`; empty where no money moved. */
  readonly transferId: string;
}

/** What a change says of itself. Each part has a plain default. */
export type Subject = Pick<AuditEvent, "resource" | "accountId"> & Partial<Omit<AuditEvent, keyof Act>>;

/** The record of an act that changed something, or as its subject says. */
export function eventOf({ actor, method, timeMs }: Act, subject: Subject): AuditEvent {
  const empty = { result: "done", reason: "", before: "", after: "", transferId: "" } as const;
  return { actor, method, timeMs, ...empty, ...subject };
}

/** What the gateway does by itself. */
export function gatewayAct(method: string, timeMs: number): Act {
  return { actor: ownActor("gateway"), method, timeMs };
}

/** What a settings file makes. Its version is what tells it from the one before. */
export function fileAct(method: string, version: string, timeMs: number): Act {
  return { actor: ownActor("file", version), method, timeMs };
}

/** What a command does to a database itself. The system's user is who did it. */
export function commandAct(method: string, user: string, timeMs: number): Act {
  return { actor: ownActor("cli", user), method, timeMs };
}

/** The actor of what comes through no call. */
export function ownActor(kind: "gateway" | "file" | "cli", id = ""): Actor {
  return { kind, id, name: "", accountId: "", door: kind, address: "", requestId: "" };
}

/** Who acted in calls whose records were written with their changes: each call has an actor of its own. */
const written = new WeakSet<Actor>();

/** Says that a change was written, and its record in the same transaction. Who made the call need not add one. */
export function markWritten({ actor }: Pick<Act, "actor">): void {
  written.add(actor);
}

export function isWritten({ actor }: Pick<Act, "actor">): boolean {
  return written.has(actor);
}
