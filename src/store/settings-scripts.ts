/** What is asked of the tables of settings objects, each in one transaction. */
import type { AuditEvent } from "../audit/act.js";
import { audit, lock, row, rows, type Script } from "./script.js";

/** An object of the settings. */
export interface SettingsObjectRow {
  readonly kind: string;
  readonly name: string;
  /** Its block as JSON, without secrets. */
  readonly spec: string;
  /** Its secrets as JSON by their fields, sealed; null where it has none. */
  readonly secrets: Uint8Array | null;
  /** The label of the tool that manages it; empty where none does. */
  readonly managedBy: string;
  readonly createTimeMs: number;
  readonly updateTimeMs: number;
  /** The revision that changed it last. */
  readonly revision: number;
}

/** A committed change of the objects, as one number. */
export interface SettingsRevisionRow {
  readonly revision: number;
  readonly createTimeMs: number;
  readonly actor: string;
  /** What it changed, as JSON. */
  readonly changes: string;
}

/** All objects at one moment. */
export interface SettingsSetRows {
  readonly revision: number;
  readonly objects: readonly SettingsObjectRow[];
}

/** What a commit writes, and removes by kind and name. */
export interface SettingsCommit {
  readonly revision: SettingsRevisionRow;
  readonly set: readonly SettingsObjectRow[];
  readonly deleted: readonly Pick<SettingsObjectRow, "kind" | "name">[];
  /** The record of each change. */
  readonly events: readonly AuditEvent[];
}

interface ObjectColumns {
  readonly kind: string;
  readonly name: string;
  readonly spec: string;
  readonly secrets: Uint8Array | null;
  readonly managed_by: string;
  readonly create_time_ms: bigint;
  readonly update_time_ms: bigint;
  readonly revision: bigint;
}

interface RevisionColumns {
  readonly revision: bigint;
  readonly create_time_ms: bigint;
  readonly actor: string;
  readonly changes: string;
}

/** Older revisions are forgotten; the audit log has their changes. */
export const REVISIONS_MAX = 1_000;

const NEWEST = "SELECT COALESCE(MAX(revision), 0) AS revision FROM settings_revision";
const SET = `INSERT INTO settings_object
  (kind, name, spec, secrets, managed_by, create_time_ms, update_time_ms, revision) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (kind, name) DO UPDATE SET spec = excluded.spec, secrets = excluded.secrets,
    managed_by = excluded.managed_by, update_time_ms = excluded.update_time_ms, revision = excluded.revision`;

export const SETTINGS_SCRIPTS = {
  *settingsRevision(): Script<number> {
    return yield* newest();
  },

  *settingsSet(): Script<SettingsSetRows> {
    const revision = yield* newest();
    const found = yield* rows<ObjectColumns>("SELECT * FROM settings_object ORDER BY kind, name");
    return { revision, objects: found.map(toObject) };
  },

  /**
   * Writes the revision that comes after the newest one. Undefined once it is written; else the newest one, where that
   * is another: what was judged against an older set is not written over a newer one.
   */
  *commitSettings({ revision, set, deleted, events }: SettingsCommit): Script<number | undefined> {
    yield* lock("settings");
    const last = yield* newest();
    if (last !== revision.revision - 1) return last;
    for (const { kind, name } of deleted)
      yield* rows("DELETE FROM settings_object WHERE kind = ? AND name = ?", kind, name);
    for (const { kind, name, spec, secrets, managedBy, createTimeMs, updateTimeMs, revision: own } of set)
      yield* rows(SET, kind, name, spec, secrets, managedBy, createTimeMs, updateTimeMs, own);
    const { createTimeMs, actor, changes } = revision;
    const sql = "INSERT INTO settings_revision (revision, create_time_ms, actor, changes) VALUES (?, ?, ?, ?)";
    yield* rows(sql, revision.revision, createTimeMs, actor, changes);
    yield* rows("DELETE FROM settings_revision WHERE revision <= ?", revision.revision - REVISIONS_MAX);
    yield* audit(...events);
    return undefined;
  },

  /** Those before a revision, the newest first. */
  *settingsRevisions(before: number, size: number): Script<readonly SettingsRevisionRow[]> {
    const sql = "SELECT * FROM settings_revision WHERE revision < ? ORDER BY revision DESC LIMIT ?";
    return (yield* rows<RevisionColumns>(sql, before, size)).map(toRevision);
  },

  /** Puts secrets that are sealed anew in the place of what they were. */
  *sealSettingsAnew(kind: string, name: string, was: Uint8Array, sealed: Uint8Array): Script<boolean> {
    const sql = "UPDATE settings_object SET secrets = ? WHERE kind = ? AND name = ? AND secrets = ? RETURNING name";
    return (yield* row(sql, sealed, kind, name, was)) !== undefined;
  },
};

function* newest(): Script<number> {
  return Number((yield* row<{ revision: bigint }>(NEWEST))?.revision ?? 0);
}

function toObject(found: ObjectColumns): SettingsObjectRow {
  return {
    kind: found.kind,
    name: found.name,
    spec: found.spec,
    secrets: found.secrets,
    managedBy: found.managed_by,
    createTimeMs: Number(found.create_time_ms),
    updateTimeMs: Number(found.update_time_ms),
    revision: Number(found.revision),
  };
}

function toRevision(found: RevisionColumns): SettingsRevisionRow {
  return {
    revision: Number(found.revision),
    createTimeMs: Number(found.create_time_ms),
    actor: found.actor,
    changes: found.changes,
  };
}
