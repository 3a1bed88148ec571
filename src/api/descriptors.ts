/** The protocol as data: what reflection, the permissions and the management routes read off the descriptor set. */
import { readFileSync } from "node:fs";
import type { DescMethod, FileRegistry } from "@bufbuild/protobuf";
import { createFileRegistry, fromBinary, getOption, hasOption } from "@bufbuild/protobuf";
import { type EnumDescriptorProto, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { z } from "zod";
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

export interface MethodDescription {
  /** `/tollgate.v1.KeyService/GetKey`. */
  readonly path: string;
  readonly desc: DescMethod;
  readonly http?: HttpRule;
  readonly permission?: MethodPermission;
}

const HTTP_OPTION = z
  .object({
    pattern: z.object({ case: z.enum(["get", "put", "post", "delete", "patch"]), value: z.string().startsWith("/") }),
    body: z.string(),
  })
  .transform((rule): HttpRule => ({
    verb: VERBS[rule.pattern.case],
    pattern: rule.pattern.value,
    body: rule.body,
  }));
const VERBS = { get: "GET", put: "PUT", post: "POST", delete: "DELETE", patch: "PATCH" } as const;
const PERMISSION_OPTION = z
  .object({ scope: z.string(), operator: z.boolean(), open: z.boolean(), user: z.boolean(), fresh: z.boolean() })
  .transform(({ scope, operator, open, user, fresh }): MethodPermission => ({ scope, operator, open, user, fresh }));
const FRONT_ONLY: MethodPermission = { scope: "", operator: false, front: true };
export const FIELD_MASK = "google.protobuf.FieldMask";
const PUBLIC_PACKAGE = "tollgate.v1";
const REASONS_NAME = "ErrorReason";
/** What a front end and its core say to each other, which is nobody else's business. */
export const INTERNAL_PACKAGE = "tollgate.internal.v1";
const PLACE = new URL("gen/tollgate.binpb", PACKAGE_ROOT);

let bytes: Buffer | undefined;
let files: FileRegistry | undefined;
let described: ReadonlyMap<string, MethodDescription> | undefined;

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
  return registry().getEnum(typeName)?.value[value]?.name ?? "";
}

/** Every method of the protocol, by path. */
export function methods(): readonly MethodDescription[] {
  return [...describe().values()];
}

/** The method at a path such as `/tollgate.v1.KeyService/GetKey`. Throws where the protocol has none. */
export function methodByPath(path: string): MethodDescription {
  const found = describe().get(path);
  if (found === undefined) throw new Error(`the protocol has no method ${path}`);
  return found;
}

function readRegistry(): FileRegistry {
  const set = fromBinary(FileDescriptorSetSchema, descriptorSetBytes());
  for (const { package: name, enumType, messageType } of set.file) {
    if (name !== PUBLIC_PACKAGE) continue;
    for (const one of [...enumType, ...messageType.flatMap((message) => message.enumType)]) nameAsJson(one);
  }
  return createFileRegistry(set);
}

/**
 * Names the values of an enum as JSON says them: without the enum's own name and in lower case, but a reason as
 * google.rpc.ErrorInfo says it.
 */
function nameAsJson({ name, value }: EnumDescriptorProto): void {
  const prefixLength = name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, "_").length + 1;
  for (const one of value) {
    const word = one.name.slice(prefixLength);
    one.name = name === REASONS_NAME ? word : word.toLowerCase();
  }
}

function describe(): ReadonlyMap<string, MethodDescription> {
  described ??= readMethods(registry());
  return described;
}

function readMethods(from: FileRegistry): ReadonlyMap<string, MethodDescription> {
  const http = from.getExtension("google.api.http");
  const permission = from.getExtension(`${PUBLIC_PACKAGE}.permission`);
  const frontOnly = from.getExtension(`${INTERNAL_PACKAGE}.front_only`);
  if (http === undefined || permission === undefined || frontOnly === undefined) {
    throw new Error("the descriptor set lacks its method options");
  }
  const found = new Map<string, MethodDescription>();
  for (const file of from.files) {
    if (file.proto.package !== PUBLIC_PACKAGE && file.proto.package !== INTERNAL_PACKAGE) continue;
    for (const desc of file.services.flatMap((service) => service.methods)) {
      const path = `/${desc.parent.typeName}/${desc.name}`;
      const rule = hasOption(desc, http) ? HTTP_OPTION.parse(getOption(desc, http)) : undefined;
      const reads = rule?.verb === "GET";
      found.set(path, {
        path,
        desc,
        ...(rule === undefined ? {} : { http: rule }),
        ...(hasOption(desc, permission)
          ? { permission: { ...PERMISSION_OPTION.parse(getOption(desc, permission)), reads } }
          : {}),
        ...(hasOption(desc, frontOnly) ? { permission: FRONT_ONLY } : {}),
      });
    }
  }
  return found;
}
