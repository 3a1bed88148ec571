/** The objects of the database as this node has them: read when they change, judged as one set, kept as revisions. */
import { z } from "zod";
import type { SecretSeal } from "../alerts/seal.js";
import { invalid, stale, unknown } from "../api/check.js";
import { type Act, eventOf, markWritten } from "../audit/act.js";
import { changeOf } from "../audit/snapshot.js";
import { GatewayError } from "../base/errors.js";
import { parseReference } from "../config/secret-reference.js";
import type { Settings } from "../config/settings.js";
import type { SettingsObjectRow, SettingsRevisionRow } from "../store/settings-scripts.js";
import type { PeopleStore } from "../store/people-store.js";
import { type ObjectTransition, transitions } from "./differences.js";
import { isObjectKind, type ObjectKind } from "../config/object-places.js";
import {
  type Block,
  idOf,
  NO_OBJECTS,
  type ObjectName,
  type ObjectSet,
  secretsOf,
  type SettingsEntry,
} from "./object.js";
import { checkSet, edited, type ObjectEdit, type ObjectProblem, type Surroundings } from "./object-set.js";
import { ReferencedSecrets } from "./referenced-secrets.js";

export type ObjectStore = Pick<
  PeopleStore,
  "settingsRevision" | "settingsSet" | "commitSettings" | "settingsRevisions" | "sealSettingsAnew"
>;

export interface SettingsObjectsOptions {
  readonly store: ObjectStore;
  readonly seal: SecretSeal;
  readonly env: NodeJS.ProcessEnv;
  readonly nowMs: () => number;
}

/** What the objects say to this node. */
export interface UsableObjects extends Pick<
  Settings,
  "upstreams" | "models" | "aliases" | "plans" | "identity" | "payments" | "metrics" | "prices"
> {
  /** Why this node does not use an object, by `idOf`. */
  readonly aside: ReadonlyMap<string, string>;
}

export interface CommitOptions {
  readonly act: Act;
  /** The revision that must still be the newest. Undefined: whichever it is. */
  readonly revision?: number | undefined;
}

/** What makes the objects what they were before, if no other revision comes meanwhile. */
export interface Restoring {
  readonly makeEdits: MakeEdits;
  readonly newest: number;
}

/** Makes the edits of the set that is the newest now. */
export type MakeEdits = (set: ObjectSet) => readonly ObjectEdit[];

/** Others commit at the same time: so often a commit is judged anew against what they made of the set. */
const TRIES_MAX = 8;
/** A gateway of so many upstreams and models is larger than any that is known. */
const OBJECTS_MAX = 10_000;
const PROBLEMS_TOLD_MAX = 20;
const UNOPENED = "its secret was stored under another TOLLGATE_SECRET: write the secret again";

const STATE = z.object({ block: z.record(z.string(), z.json()), secrets: z.array(z.string()), managedBy: z.string() });
const TRANSITIONS = z.array(
  z.object({
    kind: z.string(),
    name: z.string(),
    before: STATE.nullable(),
    after: STATE.nullable(),
    newSecrets: z.array(z.string()),
  }),
);

export class SettingsObjects {
  #set: ObjectSet = NO_OBJECTS;
  /** Counts the changes of secrets that objects refer to. */
  #secretChanges = 0;
  readonly #secrets: ReferencedSecrets;

  constructor(private readonly options: SettingsObjectsOptions) {
    this.#secrets = new ReferencedSecrets(options.env);
  }

  get set(): ObjectSet {
    return this.#set;
  }

  /** Names what a node that uses the objects goes by: another one means that something changed. */
  get stamp(): string {
    return `${this.#set.revision} ${this.#secretChanges}`;
  }

  /** Reads the newest set, and files that secrets refer to. */
  async refresh(): Promise<void> {
    const revision = await this.options.store.settingsRevision();
    if (revision !== this.#set.revision) await this.#read();
    await this.#readSecrets(this.#set);
  }

  async #readSecrets(...sets: readonly ObjectSet[]): Promise<void> {
    if (await this.#secrets.refresh(sets.flatMap(referencesIn))) this.#secretChanges += 1;
  }

  async #read(): Promise<void> {
    const { revision, objects } = await this.options.store.settingsSet();
    const entries = objects.flatMap((row) => this.#entryOf(row));
    // A commit of this node may have come while it was read.
    if (revision < this.#set.revision) return;
    this.#set = { revision, entries: new Map(entries.map((entry) => [idOf(entry), entry])) };
  }

  /**
   * What this node can use, judged object by object: an object that it cannot use takes no other one with it. A model
   * keeps the targets that it has elsewhere. The name of an object stands for nothing else, used or not.
   */
  usable(around: Surroundings, { entries } = this.#set): UsableObjects {
    const aside = new Map<string, string>();
    const left = new Map(entries);
    const put = (id: string, reason: string): void => {
      if (!aside.has(id)) aside.set(id, reason);
      left.delete(id);
    };
    for (const [id, entry] of left) {
      if (entry.unopened !== undefined) put(id, UNOPENED);
      const missing = referencesOf(entry).find((reference) => this.#secrets.valueOf(reference) === undefined);
      if (missing !== undefined) put(id, `its secret ${missing} is not there on this node`);
    }
    const { outside } = around;
    const upstreams = new Map(
      [...outside.upstreams].filter(([name]) => !entries.has(idOf({ kind: "upstream", name }))),
    );
    const models = new Set(outside.models);
    for (;;) {
      for (const { kind, name, block } of entries.values()) {
        if (left.has(idOf({ kind, name }))) continue;
        if (kind === "upstream") upstreams.set(name, String(block["family"]));
        if (kind === "model") models.add(name);
      }
      const checked = checkSet(
        left.values(),
        { ...around, outside: { upstreams, models } },
        (reference) => this.#secrets.valueOf(reference) ?? "",
      );
      if (checked.settings !== undefined) {
        const { upstreams, models, aliases, plans, identity, payments, metrics, prices } = checked.settings;
        return {
          upstreams: upstreams.map((one) => Object.assign(one, { isOfDatabase: true })),
          models: models.map((one) => Object.assign(one, { isOfDatabase: true })),
          aliases,
          plans,
          identity,
          payments,
          metrics,
          prices,
          aside,
        };
      }
      const before = left.size;
      for (const problem of checked.problems) put(idOf(problem), sentenceOf(problem));
      if (left.size === before)
        throw new Error(`no object has the problem: ${checked.problems.map(sentenceOf).join("; ")}`);
    }
  }

  /** What a reference stands for on this node; a secret that is no reference stands for itself. */
  secretOf(secret: string): string | undefined {
    return parseReference(secret) === undefined ? secret : this.#secrets.valueOf(secret);
  }

  /** The set, once what its secrets refer to was read. */
  async withSecrets(set: ObjectSet): Promise<ObjectSet> {
    await this.#readSecrets(this.#set, set);
    return set;
  }

  /** What edits would make of the set, and what is wrong with it that is not wrong without them. */
  judge(
    edits: readonly ObjectEdit[],
    around: Surroundings,
  ): { readonly set: ObjectSet; readonly problems: readonly ObjectProblem[] } {
    const { set, problems } = edited(this.#set, edits, this.options.nowMs(), around);
    const told = new Set(checkSet(this.#set.entries.values(), around).problems.map(wordsOf));
    const later = checkSet(set.entries.values(), around).problems.filter((problem) => !told.has(wordsOf(problem)));
    // What an edit itself has wrong is the cause of what follows from it.
    const places = new Set(problems.map(({ kind, name, field }) => JSON.stringify([kind, name, field])));
    const all = [...problems, ...later.filter((one) => !places.has(JSON.stringify([one.kind, one.name, one.field])))];
    if (set.entries.size > OBJECTS_MAX) throw invalid("changes", `would make more than ${OBJECTS_MAX} objects`);
    return { set, problems: all };
  }

  /**
   * Commits edits as one revision, and answers the set that is the newest then. Edits that change nothing make no
   * revision. Rejects with PARAMETER_INVALID, with ETAG_STALE, and with what `makeEdits` throws.
   */
  async commit(makeEdits: MakeEdits, around: () => Surroundings, { act, revision }: CommitOptions): Promise<ObjectSet> {
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      await this.refresh();
      const before = this.#set;
      if (revision !== undefined && revision !== before.revision) throw stale("revision", String(revision));
      const edits = makeEdits(before);
      const { set, problems } = this.judge(edits, around());
      if (problems.length > 0) throw refusalOf(problems, edits);
      const changed = transitions(before, set);
      if (changed.length === 0) return before;
      const newest = await this.options.store.commitSettings(this.#commitOf(set, changed, act));
      if (newest !== undefined) continue;
      markWritten(act);
      this.#set = set;
      await this.#readSecrets(set);
      return set;
    }
    throw new GatewayError("ERROR_REASON_OVERLOADED", { problem: "the settings change all the time; try again" });
  }

  /** A page of revisions before one, the newest first. */
  async revisions(
    before: number,
    size: number,
  ): Promise<readonly (SettingsRevisionRow & { readonly changed: readonly ObjectTransition[] })[]> {
    const rows = await this.options.store.settingsRevisions(before, size);
    return rows.map((row) => Object.assign(row, { changed: transitionsOf(row.changes) }));
  }

  /** The edits that make the objects what they were after a revision. Rejects with RESOURCE_UNKNOWN. */
  async restoring(revision: number, size: number): Promise<Restoring> {
    const newest = await this.options.store.settingsRevision();
    const later = newest - revision;
    if (revision < 0 || later < 0) throw unknown("revision", String(revision));
    const rows = later === 0 ? [] : await this.revisions(newest + 1, Math.min(later, size));
    if (rows.length < later) throw unknown("revision", String(revision));
    const target = new Map<string, ObjectTransition>();
    // From the newest back: the oldest of them says what stood before all.
    for (const { changed } of rows) for (const one of changed) target.set(idOf(one), one);
    const makeEdits: MakeEdits = (set) =>
      [...target.values()].flatMap(({ kind, name, before }): ObjectEdit[] => {
        const present = set.entries.get(idOf({ kind, name }));
        if (before === null) return present === undefined ? [] : [{ kind, name, block: undefined }];
        // A secret stays as it is now, and a reference comes back with an object that is gone.
        const block = present === undefined ? before.block : withoutSecretFields(kind, before.block);
        return [{ kind, name, block, managedBy: before.managedBy, needed: before.secrets }];
      });
    return { makeEdits, newest };
  }

  /** Seals anew what only the root secret from before opens. Answers how many objects that were. */
  async sealAnew(): Promise<number> {
    const { store, seal } = this.options;
    let count = 0;
    for (const { kind, name, secrets } of (await store.settingsSet()).objects) {
      const anew = secrets === null ? undefined : seal.sealAnew(`${kind}/${name}`, secrets);
      if (secrets !== null && anew !== undefined && (await store.sealSettingsAnew(kind, name, secrets, anew)))
        count += 1;
    }
    return count;
  }

  #commitOf(set: ObjectSet, changed: readonly ObjectTransition[], act: Act) {
    const entries = changed.flatMap((one) => set.entries.get(idOf(one)) ?? []);
    return {
      revision: {
        revision: set.revision,
        createTimeMs: act.timeMs,
        actor: act.actor.id,
        changes: JSON.stringify(changed),
      },
      set: entries.map((entry) => this.#rowOf(entry)),
      deleted: changed.filter(({ after }) => after === null).map(({ kind, name }) => ({ kind, name })),
      events: changed.map((one) => eventOf(act, { resource: `settings/${idOf(one)}`, accountId: "", ...audited(one) })),
    };
  }

  #rowOf(entry: SettingsEntry): SettingsObjectRow {
    const { kind, name, block, secrets, unopened, managedBy, createTimeMs, updateTimeMs, revision } = entry;
    const sealed =
      Object.keys(secrets).length === 0 ? null : this.options.seal.seal(idOf(entry), JSON.stringify(secrets));
    const row = { kind, name, spec: JSON.stringify(block), secrets: unopened ?? sealed, managedBy };
    return { ...row, createTimeMs, updateTimeMs, revision };
  }

  /** Nothing of a kind that a newer program made. */
  #entryOf(row: SettingsObjectRow): SettingsEntry[] {
    const { kind, name, managedBy, createTimeMs, updateTimeMs, revision } = row;
    if (!isObjectKind(kind)) return [];
    const opened = row.secrets === null ? "{}" : this.options.seal.open(`${kind}/${name}`, row.secrets);
    // Written by this program, or one like it.
    const block = JSON.parse(row.spec) as Block;
    const secrets = JSON.parse(opened ?? "{}") as Record<string, string>;
    const unopened = opened === undefined ? (row.secrets ?? undefined) : undefined;
    return [{ kind, name, block, secrets, unopened, managedBy, createTimeMs, updateTimeMs, revision }];
  }
}

function transitionsOf(changes: string): readonly ObjectTransition[] {
  return TRANSITIONS.parse(JSON.parse(changes)).flatMap(({ kind, ...one }): ObjectTransition[] =>
    // The blocks are of this form, since what wrote them had it.
    isObjectKind(kind) ? [{ kind, ...one } as ObjectTransition] : [],
  );
}

/** What the audit log tells of a change: names of secrets alone. */
function audited({ before, after, newSecrets }: ObjectTransition) {
  const told = (state: ObjectTransition["before"]): object | undefined =>
    state === null ? undefined : { ...state.block, managed_by: state.managedBy, secrets: state.secrets };
  return changeOf({
    before: told(before),
    after: after === null ? undefined : { ...told(after), new_secrets: newSecrets },
  });
}

function referencesIn(set: ObjectSet): readonly string[] {
  return [...set.entries.values()].flatMap(referencesOf);
}

function referencesOf({ kind, block }: SettingsEntry): readonly string[] {
  return secretsOf(kind).flatMap((field) => {
    const value = block[field];
    return typeof value === "string" && parseReference(value) !== undefined ? [value] : [];
  });
}

/** A block in which its secrets are not said, so that they stay as they are. */
export function withoutSecretFields(kind: ObjectKind, block: Block): Block {
  return Object.fromEntries(Object.entries(block).filter(([field]) => !secretsOf(kind).includes(field)));
}

/** Without the name that is proposed, which depends on what else there is. */
function wordsOf({ kind, name, field, problem }: ObjectProblem): string {
  return JSON.stringify([kind, name, field, problem.replace(/; did you mean "[^"]*"\?$/, "")]);
}

function sentenceOf({ field, problem }: ObjectProblem): string {
  return field === "" ? problem : `${field} ${problem}`;
}

/** Of one edit the field is the parameter; of several the object is named too. */
export function refusalOf(problems: readonly ObjectProblem[], edits: readonly ObjectName[]): GatewayError {
  const [first] = problems;
  const [edit] = edits;
  if (first === undefined) throw new Error("there is no problem");
  const isOfOne = edits.length === 1 && edit !== undefined && problems.every((one) => idOf(one) === idOf(edit));
  const place = (one: ObjectProblem): string =>
    [`${one.kind} ${one.name}`, one.field].filter((text) => text !== "").join(", ");
  if (isOfOne && problems.length === 1) return invalid(first.field === "" ? "name" : first.field, first.problem);
  const told = problems.slice(0, PROBLEMS_TOLD_MAX).map((one) => `${isOfOne ? one.field : place(one)} ${one.problem}`);
  const more = problems.length - told.length;
  return invalid(
    isOfOne && first.field !== "" ? first.field : "changes",
    isOfOne && first.field !== ""
      ? [first.problem, ...told.slice(1)].join("; ")
      : `are refused: ${told.join("; ")}${more > 0 ? `; and ${more} more` : ""}`,
  );
}
