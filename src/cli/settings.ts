/** `tollgate settings`: the upstreams and models of all sources, and their move between a file and the database. */
import { Argument, type Command, Option } from "commander";
import {
  type ListObjectsResponse,
  ObjectKind as ObjectKindValue,
  SettingsServiceService,
  SettingsSource,
  type SettingsObject,
} from "../api/index.js";
import { enumWord } from "../api/descriptors.js";
import { OBJECT_KINDS, type ObjectKind } from "../config/object-places.js";
import { connected, type ConnectionOptions, withConnection } from "./connection.js";
import { formatList, printable } from "./print.js";

const PLACES = {
  file: SettingsSource.SETTINGS_SOURCE_FILE,
  database: SettingsSource.SETTINGS_SOURCE_DATABASE,
} as const;

export function addSettingsCommands(program: Command): void {
  const settings = program.command("settings").description("list settings objects, and move them");
  withConnection(
    settings
      .command("list", { isDefault: true })
      .description("list the objects of all sources; PROBLEM shows why the node does not use one"),
  ).action(list);
  withConnection(
    settings
      .command("move")
      .description("move an object between the settings file and the database; it is served all the time")
      .addArgument(new Argument("<kind>", "the kind of the object").choices(OBJECT_KINDS))
      .argument("<name>", "the name of the object")
      .addOption(new Option("--to <place>", "where to").choices(Object.keys(PLACES)).makeOptionMandatory())
      .addHelpText("after", "\nExample:\n  tollgate settings move model gpt-5.4 --to database"),
  ).action(move);
}

async function list(options: ConnectionOptions): Promise<void> {
  await connected(options, async (connection) => {
    const method = SettingsServiceService.listObjects;
    const all = { kind: ObjectKindValue.OBJECT_KIND_UNSPECIFIED, source: SettingsSource.SETTINGS_SOURCE_UNSPECIFIED };
    connection.show(method, await connection.call(method, { ...all, pageSize: 0, pageToken: "" }), formatObjects);
  });
}

function formatObjects({ objects }: ListObjectsResponse): string {
  const rows = objects.map((object) => [kindOf(object), printable(object.name), sourceOf(object), object.problem]);
  return formatList(["KIND", "NAME", "SOURCE", "PROBLEM"], rows, "There are no objects.", "");
}

function kindOf({ kind }: SettingsObject): string {
  return enumWord("tollgate.v1.ObjectKind", kind);
}

function sourceOf({ source, place }: SettingsObject): string {
  return place === "" ? enumWord("tollgate.v1.SettingsSource", source) : printable(place);
}

type MoveOptions = ConnectionOptions & { readonly to: keyof typeof PLACES };

async function move(kind: ObjectKind, name: string, { to, ...options }: MoveOptions): Promise<void> {
  // Loaded only here, so that other commands start at once.
  const { KIND_VALUES } = await import("../settings/spec.js");
  await connected(options, async (connection) => {
    const method = SettingsServiceService.moveObject;
    const answer = await connection.call(method, { kind: KIND_VALUES[kind], name, to: PLACES[to] });
    connection.show(method, answer, ({ object }) =>
      to === "file"
        ? `${kind} ${printable(name)} is served from ${object?.place ?? "the file"}.`
        : `${kind} ${printable(name)} is served from the database. Remove it from the settings file now.`,
    );
  });
}
