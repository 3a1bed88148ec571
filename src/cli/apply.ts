/** `tollgate apply`: makes the settings objects of the database agree with a file. */
import { resolve } from "node:path";
import type { Command } from "commander";
import {
  type CheckObjectsResponse,
  type ObjectChange,
  ObjectKind as ObjectKindValue,
  SettingsObject,
  SettingsServiceService,
  SettingsSource,
  UpstreamServiceService,
} from "../api/index.js";
import { blockOf } from "../config/yaml-document.js";
import { objectBlocks, type ObjectKind } from "../config/object-places.js";
import { type Block, idOf, secretsOf } from "../settings/object.js";
import { connected, type Connection, type ConnectionOptions, withConnection } from "./connection.js";
import { CommandFailure } from "./failure.js";
import { formatTable, print, printable, remark } from "./print.js";

type ApplyOptions = ConnectionOptions & {
  readonly file: string;
  readonly label: string;
  readonly prune?: true;
  readonly dryRun?: true;
};

/** What the file wants of one object. */
interface Step {
  readonly change: "create" | "update" | "delete" | "keep";
  readonly kind: ObjectKind;
  readonly name: string;
  /** The fields that differ. */
  readonly fields: readonly string[];
  readonly block: Block | undefined;
  readonly etag: string;
}

/** Of a message without fields: each has its default. */
const EMPTY = new Uint8Array();
/** Blocks that make rows, which are not objects. */
const ROWS = ["accounts", "keys", "alerts"];

export function addApplyCommand(program: Command): void {
  withConnection(
    program
      .command("apply")
      .description(
        "make the settings objects of the database, such as upstreams and models, agree with a file, in one revision",
      )
      .requiredOption("-f, --file <file>", "the settings file; ${NAME} in it is a variable of this command")
      .option("--label <name>", "the label of the objects; apply changes only objects with its label", "apply")
      .option("--prune", "delete objects with the label that the file does not have")
      .option("--dry-run", "print the plan and what it would change, and apply nothing")
      .addHelpText("after", "\nExample:\n  tollgate apply -f tollgate.yaml --dry-run"),
  ).action(apply);
}

async function apply(options: ApplyOptions): Promise<void> {
  await connected(options, async (connection) => {
    const blocks = await blocksIn(options.file, connection);
    const steps = await planOf(connection, blocks, options);
    const changes = await changesOf(steps, options.label);
    if (!options.json) {
      const rows = steps.map(({ change, kind, name, fields }) => [change, kind, printable(name), fields.join(", ")]);
      if (rows.length > 0) print(formatTable(["CHANGE", "KIND", "NAME", "FIELDS"], rows));
    }
    const skipped = ROWS.filter((name) => blocks[name] !== undefined);
    if (skipped.length > 0) remark(`Not applied: ${skipped.join(", ")}. Only settings objects are.`);
    if (changes.length === 0) return remark("Nothing differs.");
    if (options.dryRun === true) await check(connection, changes);
    else await commit(connection, changes);
  });
}

/** The blocks of the file as plain values. Its models may also name upstreams that the gateway has from elsewhere. */
async function blocksIn(file: string, connection: Connection): Promise<Block> {
  // Loaded only here, so that other commands start at once.
  const [{ readBlocks }, { textsOfFile }] = await Promise.all([
    import("../config/file.js"),
    import("../config/included.js"),
  ]);
  const { upstreams } = await connection.call(UpstreamServiceService.listUpstreams, { pageSize: 0, pageToken: "" });
  const outside = { upstreams: new Map(upstreams.map(({ id, family }) => [id, family])), models: undefined };
  const { document } = readBlocks(textsOfFile(resolve(file), file), process.env, undefined, outside);
  const blocks = blockOf(document.root);
  if (objectBlocks(blocks).length === 0)
    throw new CommandFailure(`${file} has no settings objects, such as upstreams or models`, "settings");
  return blocks;
}

async function planOf(connection: Connection, blocks: Block, { label, prune }: ApplyOptions): Promise<readonly Step[]> {
  const { differingFields, kindNamed } = await import("../settings/spec.js");
  const all = { kind: ObjectKindValue.OBJECT_KIND_UNSPECIFIED, pageSize: 0, pageToken: "" };
  const request = { ...all, source: SettingsSource.SETTINGS_SOURCE_DATABASE };
  const { objects } = await connection.call(SettingsServiceService.listObjects, request);
  const idOfObject = ({ kind, name }: SettingsObject): string => idOf({ kind: kindNamed(kind) ?? "model", name });
  const present = new Map(objects.map((object) => [idOfObject(object), object]));
  const wanted = objectBlocks(blocks).map(({ kind, name, value }) => ({ kind, name, block: blockOf(value) }));
  const steps = wanted.map(({ kind, name, block }): Step => {
    const before = present.get(idOf({ kind, name }));
    if (before === undefined) return { change: "create", kind, name, fields: [], block, etag: "new" };
    if (before.managedBy !== label) {
      const owner = before.managedBy === "" ? "made in the console or over the API" : `managed by ${before.managedBy}`;
      throw new CommandFailure(`the ${kind} ${name} is ${owner}: use its label, or another name`, "failed");
    }
    const fields = differingFields(kind, before.spec, block);
    return { change: fields.length === 0 ? "keep" : "update", kind, name, fields, block, etag: before.etag };
  });
  const kept = new Set(wanted.map(idOf));
  const gone = prune === true ? objects.filter((one) => one.managedBy === label && !kept.has(idOfObject(one))) : [];
  const deleted = gone.map(({ kind, name, etag }): Step => ({
    change: "delete",
    kind: kindNamed(kind) ?? "model",
    name,
    fields: [],
    block: undefined,
    etag,
  }));
  return [...steps, ...deleted];
}

/** What is kept is sent too: whether its secret differs only the gateway knows. */
async function changesOf(steps: readonly Step[], label: string): Promise<ObjectChange[]> {
  const { KIND_VALUES, specOfBlock } = await import("../settings/spec.js");
  return steps
    .filter(({ change, kind, block }) => change !== "keep" || secretsOf(kind).some((field) => block?.[field]))
    .map(({ kind, name, block, etag }): ObjectChange => {
      const renamedFrom = "";
      const object = { ...SettingsObject.decode(EMPTY), kind: KIND_VALUES[kind], name, managedBy: label };
      if (block === undefined) return { change: { $case: "delete", value: object }, etag, renamedFrom };
      return { change: { $case: "set", value: { ...object, spec: specOfBlock(kind, block) } }, etag, renamedFrom };
    });
}

async function check(connection: Connection, changes: ObjectChange[]): Promise<void> {
  const { kindNamed } = await import("../settings/spec.js");
  const method = SettingsServiceService.checkObjects;
  const answer = await connection.call(method, { changes });
  connection.show(method, answer, (shown) => formatCheck(shown, kindNamed));
  if (answer.problems.length > 0) throw new CommandFailure("the changes would be refused", "settings");
}

function formatCheck(
  { problems, effects, models }: CheckObjectsResponse,
  kindNamed: (kind: ObjectKindValue) => string | undefined,
): string {
  const wrong = problems.map(({ kind, name, field, problem }) => `${kindNamed(kind)} ${name}: ${field} ${problem}`);
  const changed = effects.map(({ id, before, after, source }) => {
    if (after === undefined) return `${id} is no longer served`;
    return before === undefined ? `${id} is new, ${source}` : `${id} has another price, ${source}`;
  });
  const unserved = models.filter(({ problem }) => problem !== "").map(({ id, problem }) => `model ${id} ${problem}`);
  return [...wrong, ...changed, ...unserved].map(printable).join("\n") || "No price changes.";
}

async function commit(connection: Connection, changes: ObjectChange[]): Promise<void> {
  const method = SettingsServiceService.applyObjects;
  const answer = await connection.call(method, { changes, revision: 0n });
  connection.show(method, answer, ({ revision }) => `Revision ${revision} is in force.`);
}
