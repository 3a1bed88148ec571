/** The settings objects as operators see and change them: their own forms in the place of the protocol's. */
import { invalid, required, stale, unknown } from "../api/check.js";
import {
  type ApplyObjectsRequest,
  type CheckObjectsResponse,
  type ListObjectsRequest,
  type ListObjectsResponse,
  type ListRevisionsRequest,
  type ListRevisionsResponse,
  type ObjectChange,
  ObjectKind as KindValue,
  type SettingsObject,
  SettingsSource,
  type TestObjectRequest,
  type TestObjectResponse,
  type UpdateObjectRequest,
  type UpstreamFamily,
} from "../api/index.js";
import { snakeCase } from "../api/field-name.js";
import type { Act } from "../audit/act.js";
import { GatewayError } from "../base/errors.js";
import type { Settings } from "../config/settings.js";
import { families } from "../families/index.js";
import type { ObjectBoard } from "../rpc/call/core.js";
import { pageById } from "../rpc/methods/page.js";
import type { RouteTable } from "../routing/routing.js";
import type { FileObject, FileObjects } from "../settings/file-objects.js";
import { type ObjectKind } from "../config/object-places.js";
import {
  type Block,
  idOf,
  namesakesOf,
  type ObjectName,
  type ObjectSet,
  secretsOf,
  type SettingsEntry,
} from "../settings/object.js";
import type { ObjectEdit, Surroundings } from "../settings/object-set.js";
import { type MakeEdits, refusalOf, type SettingsObjects, withoutSecretFields } from "../settings/settings-objects.js";
import { blockOfSpec, KIND_VALUES, kindNamed, specDescriptor } from "../settings/spec.js";
import { REVISIONS_MAX } from "../store/settings-scripts.js";
import { checkedModel, modelEffects } from "./object-effects.js";
import type { PreparedRoutes, RouteKeeper } from "./routes.js";
import { differencesFrom, fileProblem, shownDifferences, shownEntry, shownName, shownOfFile } from "./shown-objects.js";

export interface DatabaseObjectsOptions {
  readonly objects: SettingsObjects;
  readonly routes: Pick<RouteKeeper, "prepare" | "tryUpstream">;
  /** What is served now. */
  readonly served: () => RouteTable;
  /** The objects of the file in force. */
  readonly file: () => FileObjects;
  /** Why this node does not use an object. */
  readonly aside: () => ReadonlyMap<string, string>;
  readonly around: () => Surroundings;
  /** The settings that would be in force with other objects. */
  readonly merged: (set: ObjectSet) => Settings;
  /** Puts the objects in force. */
  readonly use: () => Promise<void>;
  /** Puts in force what other nodes committed. Never rejects. */
  readonly catchUp: () => Promise<void>;
}

const CHANGES_MAX = 1_000;
/** Fields of an object that its spec does not have. A mask that was made of what a body has may name them. */
const BESIDE_SPEC = new Set(["kind", "name", "managed_by"]);
const PAGE_DEFAULT = 20;
const PAGE_MAX = 1_000;
const { SETTINGS_SOURCE_DATABASE, SETTINGS_SOURCE_FILE, SETTINGS_SOURCE_ENVIRONMENT, SETTINGS_SOURCE_UPSTREAM } =
  SettingsSource;

/** What a caller wants of an object that is there, or is not. */
type Wanted = ObjectEdit & { readonly etag: string };

export class DatabaseObjects implements ObjectBoard {
  constructor(private readonly options: DatabaseObjectsOptions) {}

  catchUp(): Promise<void> {
    return this.options.catchUp();
  }

  list({ kind, source, ...page }: ListObjectsRequest): ListObjectsResponse {
    const { set } = this.options.objects;
    const own = [...set.entries.values()].map((entry) => this.#shown(entry));
    const all = [...own, ...this.#others(set)]
      .filter((one) => (kind === 0 || kind === one.kind) && (source === 0 || source === one.source))
      .map((object) => ({ id: `${kindNamed(object.kind)}/${object.name} ${object.source}`, object }))
      .toSorted((one, other) => (one.id < other.id ? -1 : 1));
    const { rows, nextPageToken } = pageById(all, page, "o");
    return { objects: rows.map(({ object }) => object), revision: BigInt(set.revision), nextPageToken };
  }

  get(kind: KindValue, name: string): SettingsObject {
    const { set } = this.options.objects;
    const named = nameOf(kind, name);
    if (set.entries.has(idOf(named))) return this.#found(named);
    const other = this.#others(set).find((one) => one.kind === kind && one.name === name);
    if (other === undefined) throw unknown(named.kind, name);
    return other;
  }

  #found(named: ObjectName, { entries } = this.options.objects.set): SettingsObject {
    const entry = entries.get(idOf(named));
    if (entry === undefined) throw unknown(named.kind, named.name);
    return this.#shown(entry);
  }

  async create(object: SettingsObject | undefined, act: Act): Promise<SettingsObject> {
    const edit = this.#editOf(object, "new");
    return this.#found(edit, await this.#commit(() => [edit], act));
  }

  async update({ kind, name, object, updateMask = [], etag }: UpdateObjectRequest, act: Act): Promise<SettingsObject> {
    const named = nameOf(kind, name);
    if (object?.spec === undefined) throw missing("object");
    if (object.spec.$case !== named.kind) throw invalid("object", `must have the spec of a ${named.kind}`);
    const wanted = blockOfSpec(object.spec);
    const mask = maskOf(named.kind, updateMask, wanted);
    const after = await this.#commit((set) => {
      const before = set.entries.get(idOf(named));
      if (before === undefined) throw unknown(named.kind, named.name);
      const unsaid = withoutSecretFields(named.kind, before.block);
      const kept = Object.entries(unsaid).filter(([field]) => !mask.includes(field));
      const given = Object.entries(wanted).filter(([field]) => mask.includes(field));
      const removed = secretsOf(named.kind).filter((field) => mask.includes(field) && wanted[field] === undefined);
      const { managedBy } = object;
      const label = managedBy === "" ? undefined : managedBy;
      return [{ ...named, block: Object.fromEntries([...kept, ...given]), removed, managedBy: label, etag }];
    }, act);
    return this.#found(named, after);
  }

  async delete(kind: KindValue, name: string, etag: string, act: Act): Promise<void> {
    const named = nameOf(kind, name);
    await this.#commit(() => [{ ...named, block: undefined, etag: etag === "" ? "*" : etag }], act);
  }

  async move(kind: KindValue, name: string, to: SettingsSource, act: Act): Promise<SettingsObject> {
    const named = nameOf(kind, name);
    const inFile = this.options.file().get(idOf(named));
    if (to === SETTINGS_SOURCE_DATABASE) {
      if (inFile === undefined) throw unknown(named.kind, name);
      const edit = { ...named, block: { ...inFile.block, ...inFile.secrets }, etag: "new" };
      return this.#found(named, await this.#commit(() => [edit], act, { beside: inFile }));
    }
    if (to !== SETTINGS_SOURCE_FILE) throw invalid("to", "must be file or database");
    await this.#commit(({ entries }) => {
      const entry = entries.get(idOf(named));
      if (entry === undefined) throw unknown(named.kind, name);
      if (inFile === undefined) throw invalid("name", "is not in the settings file of this node: add it there first");
      const [differing] = differencesFrom(inFile, entry, this.#secretOf);
      if (differing !== undefined)
        throw invalid(differing, `differs from that at ${inFile.place}: make both equal first`);
      return [{ ...named, block: undefined, etag: String(entry.revision) }];
    }, act);
    return this.get(kind, name);
  }

  async check(changes: readonly ObjectChange[]): Promise<CheckObjectsResponse> {
    const { objects, around } = this.options;
    const edits = this.#editsOf(changes);
    checkEtags(objects.set, edits, this.#placeInFile);
    const { set, problems } = objects.judge(edits, around());
    const told = problems.map(({ kind, ...one }) => ({ kind: KIND_VALUES[kind], ...one }));
    if (problems.length > 0) return { problems: told, effects: [], models: [] };
    const prepared = await this.#prepared(await objects.withSecrets(set));
    const models = edits.filter(({ kind, block }) => kind === "model" && block !== undefined);
    return {
      problems: told,
      effects: modelEffects(prepared, this.options.served().models),
      models: models.map(({ name }) => checkedModel(name, prepared)),
    };
  }

  async test({ object, callModel }: TestObjectRequest): Promise<TestObjectResponse> {
    const { objects, around, routes } = this.options;
    const edit = this.#editOf(object, "");
    if (edit.kind !== "upstream") throw invalid("object", "must be an upstream");
    const { set, problems } = objects.judge([edit], around());
    if (problems.length > 0) throw refusalOf(problems, [edit]);
    const usable = objects.usable(around(), await objects.withSecrets(set));
    const settings = usable.upstreams.find(({ id }) => id === edit.name);
    if (settings === undefined) throw invalid("object", usable.aside.get(idOf(edit)) ?? "cannot be used on this node");
    return routes.tryUpstream(settings, callModel);
  }

  families(): readonly UpstreamFamily[] {
    return families
      .filter(({ connect }) => connect === undefined)
      .map((family) => ({
        name: family.name,
        baseUrl: family.baseUrl ?? "",
        needsKey: family.needsKey,
        keyVariable: family.keyVariable ?? "",
        listsModels: family.modelsPath !== undefined,
        selfHosted: family.isSelfHosted === true,
      }))
      .toSorted((one, other) => (one.name < other.name ? -1 : 1));
  }

  async apply({ changes, revision }: ApplyObjectsRequest, act: Act): Promise<number> {
    const edits = this.#editsOf(changes);
    return (await this.#commit(() => edits, act, { revision: revision === 0n ? undefined : Number(revision) }))
      .revision;
  }

  async revisions({ pageSize, pageToken }: ListRevisionsRequest): Promise<ListRevisionsResponse> {
    if (pageSize < 0) throw invalid("page_size", "must not be below 0");
    const size = Math.min(pageSize || PAGE_DEFAULT, PAGE_MAX);
    const before = pageToken === "" ? Number.MAX_SAFE_INTEGER : Number(pageToken);
    if (!Number.isSafeInteger(before)) throw invalid("page_token", "is not the next_page_token of an earlier response");
    const rows = await this.options.objects.revisions(before, size + 1);
    const shown = rows.slice(0, size).map(({ revision, createTimeMs, actor, changed }) => ({
      revision: BigInt(revision),
      createTime: new Date(createTimeMs),
      actor,
      differences: changed.flatMap(shownDifferences),
    }));
    const last = rows.length > size ? shown.at(-1) : undefined;
    return { revisions: shown, nextPageToken: last === undefined ? "" : String(last.revision) };
  }

  async restore(revision: number, act: Act): Promise<number> {
    if (revision === 0) throw missing("revision");
    const { makeEdits, newest } = await this.options.objects.restoring(revision, REVISIONS_MAX);
    const wanted = (set: ObjectSet): readonly Wanted[] =>
      makeEdits(set).map((edit) => Object.assign(edit, { etag: "" }));
    return (await this.#commit(wanted, act, { revision: newest })).revision;
  }

  /**
   * Commits, and puts it in force here before the answer: the next request of the same client finds it. `beside` is an
   * object of the file that may have the name of a new one.
   */
  async #commit(
    makeEdits: (set: ObjectSet) => readonly Wanted[],
    act: Act,
    { revision, beside }: { readonly revision?: number | undefined; readonly beside?: FileObject } = {},
  ): Promise<ObjectSet> {
    const { objects, around, use } = this.options;
    const placeOf = (named: ObjectName): string | undefined =>
      beside !== undefined && idOf(beside) === idOf(named) ? undefined : this.#placeInFile(named);
    const make: MakeEdits = (set) => {
      const edits = makeEdits(set);
      checkEtags(set, edits, placeOf);
      return edits;
    };
    const before = objects.set;
    const set = await objects.commit(make, around, { act, revision });
    if (set !== before) await use();
    return set;
  }

  #editsOf(changes: readonly ObjectChange[]): readonly Wanted[] {
    if (changes.length === 0) throw missing("changes");
    if (changes.length > CHANGES_MAX) throw invalid("changes", `must be at most ${CHANGES_MAX}`);
    const edits = changes.map(({ change, etag, renamedFrom }): Wanted => {
      if (change?.$case === "set") {
        const edit = this.#editOf(change.value, etag);
        return renamedFrom === "" ? edit : { ...edit, renamedFrom };
      }
      if (change?.$case !== "delete") throw invalid("changes", "must each have set or delete");
      const { kind, name, spec } = change.value;
      const kindOfSpec = spec === undefined ? kind : KIND_VALUES[spec.$case];
      return { ...nameOf(kindOfSpec, name), block: undefined, etag: etag === "" ? "*" : etag };
    });
    const twice = edits.find((edit, index) => edits.slice(0, index).some((other) => idOf(other) === idOf(edit)));
    if (twice !== undefined) throw invalid("changes", `name the ${twice.kind} ${twice.name} twice`);
    for (const { kind, name, renamedFrom } of edits) {
      const before = edits.find((edit) => edit.kind === kind && edit.name === renamedFrom);
      if (renamedFrom !== undefined && (before === undefined || before.block !== undefined))
        throw invalid("changes", `must delete the ${kind} ${renamedFrom}, which becomes ${name}`);
    }
    return edits;
  }

  #editOf(object: SettingsObject | undefined, etag: string): Wanted {
    if (object === undefined) throw missing("object");
    const { spec, kind, name, managedBy } = object;
    if (spec === undefined) throw missing("object.spec");
    if (kind !== 0 && kind !== KIND_VALUES[spec.$case])
      throw invalid("kind", `must be ${spec.$case}, as the spec says`);
    const label = managedBy === "" ? undefined : managedBy;
    return { ...nameOf(KIND_VALUES[spec.$case], name), block: blockOfSpec(spec), managedBy: label, etag };
  }

  /** Where this node's file has an object of this name; undefined where it has none. */
  readonly #placeInFile = (named: ObjectName): string | undefined => {
    const file = this.options.file();
    return namesakesOf(named).flatMap((id) => file.get(id)?.place ?? [])[0];
  };

  #shown(entry: SettingsEntry): SettingsObject {
    return shownEntry(entry, this.options.aside().get(idOf(entry)) ?? "");
  }

  /** What this node has from elsewhere: objects of a file whole, all others by name. */
  #others(set: ObjectSet): readonly SettingsObject[] {
    const file = this.options.file();
    const { upstreams, models } = this.options.served();
    const rest = (kind: ObjectKind, names: Iterable<string>, source: SettingsSource): readonly SettingsObject[] =>
      [...names]
        .filter((name) => !set.entries.has(idOf({ kind, name })) && !file.has(idOf({ kind, name })))
        .map((name) => shownName({ kind, name }, source));
    return [
      ...[...file.values()].map((object) =>
        shownOfFile(object, fileProblem(object, set, this.#secretOf) ?? this.options.aside().get(idOf(object)) ?? ""),
      ),
      ...rest("upstream", upstreams.keys(), SETTINGS_SOURCE_ENVIRONMENT),
      ...rest("model", models.keys(), SETTINGS_SOURCE_UPSTREAM),
    ];
  }

  readonly #secretOf = (secret: string): string | undefined => this.options.objects.secretOf(secret);

  /** What a set would be served as. */
  async #prepared(set: ObjectSet): Promise<PreparedRoutes> {
    const { routes, merged } = this.options;
    const prepared = await routes.prepare(merged(set));
    prepared.discard();
    return prepared;
  }
}

function missing(param: string): GatewayError {
  return new GatewayError("ERROR_REASON_PARAMETER_MISSING", { param });
}

function nameOf(value: KindValue, name: string): ObjectName {
  const kind = kindNamed(value);
  if (kind === undefined) throw missing("kind");
  // No object of JavaScript holds it as a name like others.
  if (name === "__proto__") throw invalid("name", "is reserved");
  return { kind, name: required("name", name) };
}

/** The fields of a spec that a mask names. One that is empty, or that names the spec, is the fields that are given. */
function maskOf(kind: ObjectKind, paths: readonly string[], given: Block): readonly string[] {
  const known = specDescriptor(kind).fields.map(({ name }) => name);
  const named = paths.map(snakeCase).filter((path) => !BESIDE_SPEC.has(path));
  if (paths.length === 0 || (named.length > 0 && named.every((path) => path === kind))) return Object.keys(given);
  const wrong = named.find((path) => !known.includes(path));
  if (wrong === undefined) return named;
  throw invalid("update_mask", `must name fields of the ${kind}: ${known.join(", ")}; "${wrong}" is none`);
}

/** Throws where an edit finds another object than its caller read, or one where there must be none. */
function checkEtags(
  set: ObjectSet,
  edits: readonly Wanted[],
  nameInFile: (named: ObjectName) => string | undefined,
): void {
  for (const edit of edits) {
    const { kind, name, etag, block } = edit;
    const before = set.entries.get(idOf(edit));
    const place = before === undefined && block !== undefined ? nameInFile(edit) : undefined;
    if (place !== undefined || (etag === "new" && before !== undefined))
      throw new GatewayError("ERROR_REASON_ALREADY_EXISTS", {
        kind,
        id: name,
        problem: `in ${place ?? "the database"}`,
      });
    if (etag === "" || etag === "new") continue;
    if (before === undefined) throw unknown(kind, name);
    if (etag !== "*" && etag !== String(before.revision)) throw stale(kind, name);
  }
}
