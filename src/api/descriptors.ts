/**
 * The protocol as data. What a start asks of its methods, and the words of its enums, are written down in
 * `gen/protocol.ts`; the descriptors are made by the first that translates a message, since they take 3 MB.
 */
import { readFileSync } from "node:fs";
import type { DescMethod, FileRegistry } from "@bufbuild/protobuf";
import { createFileRegistry, fromBinary } from "@bufbuild/protobuf";
import { type EnumDescriptorProto, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { METHODS, WORDS } from "../../gen/protocol.js";
import { PACKAGE_ROOT } from "../package-root.js";

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
  /** Asking for it makes the descriptors of all methods. */
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
let files: FileRegistry | undefined;

/** The serialized google.protobuf.FileDescriptorSet, read once. Throws where the build left it out. */
export function descriptorSetBytes(): Buffer {
  bytes ??= readFileSync(PLACE);
  return bytes;
}

/**
 * The protocol's files, messages and extensions, parsed once and only where something asks. Its enums are named as JSON
 * says them.
 */
export function registry(): FileRegistry {
  files ??= readRegistry();
  return files;
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

function readRegistry(): FileRegistry {
  const set = fromBinary(FileDescriptorSetSchema, descriptorSetBytes());
  for (const { package: name, enumType, messageType } of set.file) {
    if (name !== PUBLIC_PACKAGE) continue;
    for (const one of enumType) nameAsJson(`${name}.${one.name}`, one);
    for (const message of messageType)
      for (const one of message.enumType) nameAsJson(`${name}.${message.name}.${one.name}`, one);
  }
  return createFileRegistry(set);
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
      return (desc ??= descriptorOf(path));
    },
  };
}

function descriptorOf(path: string): DescMethod {
  const [, service = "", name] = path.split("/");
  const found = registry()
    .getService(service)
    ?.methods.find((method) => method.name === name);
  if (found === undefined) throw new Error(`the descriptor set has no method ${path}`);
  return found;
}
