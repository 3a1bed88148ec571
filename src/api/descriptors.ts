/**
 * The protocol as data. What a start asks of its methods, and the words of its enums, are written down in
 * `gen/protocol.ts`; the descriptors of a file are made by the first that translates a message of it, since those of
 * all files take 3 MB, and 30 ms of the event loop.
 */
import { readFileSync } from "node:fs";
import type { DescFile, DescMessage, DescMethod, FileRegistry } from "@bufbuild/protobuf";
import { createFileRegistry, fromBinary } from "@bufbuild/protobuf";
import { BinaryReader } from "@bufbuild/protobuf/wire";
import { type EnumDescriptorProto, FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { METHODS, WORDS } from "../../gen/protocol.js";
import { PACKAGE_ROOT } from "../base/package-root.js";

/** How a method is reached over HTTP, from its google.api.http option. */
export interface HttpRule {
  readonly verb: "GET" | "PUT" | "POST" | "DELETE" | "PATCH";
  /** Such as `/api/v1/accounts/{id}:credit`. */
  readonly pattern: string;
  /** `*` where the body holds every field that the path does not; else the name of its one field, empty: no body. */
  readonly body: string;
}

/** What a caller's key needs, from the method's permission option. */
export interface MethodPermission {
  /** Empty: any valid key. */
  readonly scope: string;
  readonly operator: boolean;
  /** True where nobody needs to be known. */
  readonly open?: boolean;
  /** True where only a person who signed in may call it. */
  readonly user?: boolean;
  /** True where a person must have shown the password of late. */
  readonly fresh?: boolean;
  /** True where it only shows something: HTTP reaches it with GET. */
  readonly reads?: boolean;
  /** True where the front token is asked for in place of a key. */
  readonly front?: true;
}

/** What the protocol says of a method, but for its messages. */
interface MethodFacts {
  /** `/tollgate.v1.KeyService/GetKey`. */
  readonly path: string;
  /** The file that it stands in, such as `tollgate/v1/key_service.proto`. */
  readonly file: string;
  readonly http?: HttpRule;
  /** `front` where the front token is asked for in place of a key. */
  readonly permission?: Pick<MethodPermission, "scope" | "operator" | "open" | "user" | "fresh"> | "front";
  /** True where a request of it may say money for people. */
  readonly readsMoney: boolean;
  /** True where an answer of it may. */
  readonly writesMoney: boolean;
}

export interface MethodDescription extends Omit<MethodFacts, "permission"> {
  readonly permission?: MethodPermission;
  /** Asking for it makes the descriptors of its file, and of those that this one imports. */
  readonly desc: DescMethod;
}

const FRONT_ONLY: MethodPermission = { scope: "", operator: false, front: true };
export const FIELD_MASK = "google.protobuf.FieldMask";
const PUBLIC_PACKAGE = "tollgate.v1";
/** What a front end and its core say to each other, which is nobody else's business. */
export const INTERNAL_PACKAGE = "tollgate.internal.v1";
const PLACE = new URL("gen/tollgate.binpb", PACKAGE_ROOT);
const FACTS: readonly MethodFacts[] = METHODS;
const ENUM_WORDS: Readonly<Record<string, Readonly<Record<number, string>>>> = WORDS;
const BY_PATH: ReadonlyMap<string, MethodDescription> = new Map(FACTS.map((facts) => [facts.path, describe(facts)]));

let bytes: Buffer | undefined;
let pieces: ReadonlyMap<string, Uint8Array> | undefined;
let whole: FileRegistry | undefined;
/** Each with what its file imports, by the file's name. */
const made = new Map<string, FileRegistry>();

/** The serialized google.protobuf.FileDescriptorSet, read once. Throws where the build left it out. */
export function descriptorSetBytes(): Buffer {
  bytes ??= readFileSync(PLACE);
  return bytes;
}

/**
 * The protocol's files, messages and extensions, for who needs all of them. Its enums are named as JSON says them.
 */
export function registry(): FileRegistry {
  whole ??= createFileRegistry(...[...filePieces().keys()].map(registryOf));
  return whole;
}

/** A message by the file that it stands in and its full name. Throws where the protocol has none. */
export function messageIn(file: string, typeName: string): DescMessage {
  const found = registryOf(file).getMessage(typeName);
  if (found === undefined) throw new Error(`${file} has no message ${typeName}`);
  return found;
}

/** The word of JSON for a value of an enum such as `tollgate.v1.EntryKind`; empty for one that it does not have. */
export function enumWord(typeName: string, value: number): string {
  return ENUM_WORDS[typeName]?.[value] ?? "";
}

/** Every method of the protocol, by path. */
export function methods(): readonly MethodDescription[] {
  return [...BY_PATH.values()];
}

/** The method at a path such as `/tollgate.v1.KeyService/GetKey`. Throws where the protocol has none. */
export function methodByPath(path: string): MethodDescription {
  const found = BY_PATH.get(path);
  if (found === undefined) throw new Error(`the protocol has no method ${path}`);
  return found;
}

/** The files as they stand in the descriptor set, by name, in an order in which each comes behind what it imports. */
function filePieces(): ReadonlyMap<string, Uint8Array> {
  if (pieces !== undefined) return pieces;
  const found = new Map<string, Uint8Array>();
  const set = new BinaryReader(descriptorSetBytes());
  while (set.pos < set.len) {
    set.tag();
    const piece = set.bytes();
    const file = new BinaryReader(piece);
    // Its first field is its name.
    file.tag();
    found.set(file.string(), piece);
  }
  return (pieces = found);
}

function registryOf(name: string): FileRegistry {
  const known = made.get(name);
  if (known !== undefined) return known;
  const piece = filePieces().get(name);
  if (piece === undefined) throw new Error(`the descriptor set has no file ${name}`);
  const proto = fromBinary(FileDescriptorProtoSchema, piece);
  if (proto.package === PUBLIC_PACKAGE) {
    for (const one of proto.enumType) nameAsJson(`${PUBLIC_PACKAGE}.${one.name}`, one);
    for (const message of proto.messageType)
      for (const one of message.enumType) nameAsJson(`${PUBLIC_PACKAGE}.${message.name}.${one.name}`, one);
  }
  const registry = createFileRegistry(proto, fileNamed);
  made.set(name, registry);
  return registry;
}

function fileNamed(name: string): DescFile | undefined {
  return registryOf(name).getFile(name);
}

function nameAsJson(typeName: string, { value }: EnumDescriptorProto): void {
  for (const one of value) one.name = enumWord(typeName, one.number);
}

function describe(facts: MethodFacts): MethodDescription {
  const { path, permission: needs, ...rest } = facts;
  const permission = needs === "front" ? FRONT_ONLY : needs && { ...needs, reads: facts.http?.verb === "GET" };
  let desc: DescMethod | undefined;
  return {
    path,
    ...rest,
    ...(permission === undefined ? {} : { permission }),
    get desc() {
      return (desc ??= descriptorOf(facts));
    },
  };
}

function descriptorOf({ path, file }: MethodFacts): DescMethod {
  const [, service = "", name] = path.split("/");
  const found = registryOf(file)
    .getService(service)
    ?.methods.find((method) => method.name === name);
  if (found === undefined) throw new Error(`the descriptor set has no method ${path}`);
  return found;
}
