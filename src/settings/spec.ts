/** Between the typed spec of an object, as the protocol has it, and its block, as a settings file has it. */
import {
  type DescField,
  type DescMessage,
  fromBinary,
  fromJson,
  type JsonValue,
  ScalarType,
  toBinary,
  toJson,
} from "@bufbuild/protobuf";
import { messageIn } from "../api/descriptors.js";
import {
  AliasSpec,
  IssuerSpec,
  MetricsSpec,
  ModelSpec,
  ObjectKind as KindValue,
  PaymentsSpec,
  PlanSpec,
  PricesSpec,
  type SettingsObject,
  UpstreamSpec,
} from "../api/index.js";
import { blockOf, type RawValue } from "../config/yaml-document.js";
import { OBJECT_KINDS, type ObjectKind } from "../config/object-places.js";
import { type Block, secretsOf } from "./object.js";
import { sorted } from "./object-set.js";

const FILE = "tollgate/v1/settings_object.proto";
const NAMES: Readonly<Record<ObjectKind, string>> = {
  upstream: "tollgate.v1.UpstreamSpec",
  model: "tollgate.v1.ModelSpec",
  alias: "tollgate.v1.AliasSpec",
  plan: "tollgate.v1.PlanSpec",
  issuer: "tollgate.v1.IssuerSpec",
  payments: "tollgate.v1.PaymentsSpec",
  metrics: "tollgate.v1.MetricsSpec",
  prices: "tollgate.v1.PricesSpec",
};
/** Where a file may write one word instead of a block: how the message says it. */
const WORDS: Readonly<Record<string, (word: string) => Record<string, RawValue>>> = {
  "tollgate.v1.PriceSpec": (word) => ({ [word]: "true" }),
  "tollgate.v1.RateSpec": (word) => ({ usd: word }),
};
const FREE = "free";

/** How the protocol calls a kind, and back. */
export const KIND_VALUES: Readonly<Record<ObjectKind, KindValue>> = {
  upstream: KindValue.OBJECT_KIND_UPSTREAM,
  model: KindValue.OBJECT_KIND_MODEL,
  alias: KindValue.OBJECT_KIND_ALIAS,
  plan: KindValue.OBJECT_KIND_PLAN,
  issuer: KindValue.OBJECT_KIND_ISSUER,
  payments: KindValue.OBJECT_KIND_PAYMENTS,
  metrics: KindValue.OBJECT_KIND_METRICS,
  prices: KindValue.OBJECT_KIND_PRICES,
};

/** Undefined where none is named. */
export function kindNamed(value: KindValue): ObjectKind | undefined {
  return OBJECT_KINDS.find((kind) => KIND_VALUES[kind] === value);
}

export type Spec = NonNullable<SettingsObject["spec"]>;

export function specDescriptor(kind: ObjectKind): DescMessage {
  return messageIn(FILE, NAMES[kind]);
}

/** The block that says what a spec says. Fields that are not set are not in it. */
export function blockOfSpec(spec: Spec): Block {
  const desc = specDescriptor(spec.$case);
  const message = fromBinary(desc, bytesOf(spec));
  return blockOf(textOf(toJson(desc, message, { useProtoFieldName: true })));
}

/** The spec that says what a valid block says. */
export function specOfBlock(kind: ObjectKind, block: Block): Spec {
  const desc = specDescriptor(kind);
  const bytes = toBinary(desc, fromJson(desc, jsonOf(desc, block), { ignoreUnknownFields: true }));
  return DECODE[kind](bytes);
}

/** One line a kind: the generated classes and the descriptors meet here. */
const DECODE: Readonly<Record<ObjectKind, (bytes: Uint8Array) => Spec>> = {
  upstream: (bytes) => ({ $case: "upstream", value: UpstreamSpec.decode(bytes) }),
  model: (bytes) => ({ $case: "model", value: ModelSpec.decode(bytes) }),
  alias: (bytes) => ({ $case: "alias", value: AliasSpec.decode(bytes) }),
  plan: (bytes) => ({ $case: "plan", value: PlanSpec.decode(bytes) }),
  issuer: (bytes) => ({ $case: "issuer", value: IssuerSpec.decode(bytes) }),
  payments: (bytes) => ({ $case: "payments", value: PaymentsSpec.decode(bytes) }),
  metrics: (bytes) => ({ $case: "metrics", value: MetricsSpec.decode(bytes) }),
  prices: (bytes) => ({ $case: "prices", value: PricesSpec.decode(bytes) }),
};

function bytesOf(spec: Spec): Uint8Array {
  switch (spec.$case) {
    case "upstream":
      return UpstreamSpec.encode(spec.value).finish();
    case "model":
      return ModelSpec.encode(spec.value).finish();
    case "alias":
      return AliasSpec.encode(spec.value).finish();
    case "plan":
      return PlanSpec.encode(spec.value).finish();
    case "issuer":
      return IssuerSpec.encode(spec.value).finish();
    case "payments":
      return PaymentsSpec.encode(spec.value).finish();
    case "metrics":
      return MetricsSpec.encode(spec.value).finish();
    case "prices":
      return PricesSpec.encode(spec.value).finish();
  }
}

/** Every scalar as its text. A price that is nothing but free is the word. */
function textOf(json: JsonValue): RawValue {
  if (Array.isArray(json)) return json.map(textOf);
  if (typeof json !== "object" || json === null) return String(json);
  const entries = Object.entries(json);
  if (entries.length === 1 && json[FREE] === true) return FREE;
  return Object.fromEntries(entries.map(([name, value]) => [name, textOf(value)]));
}

function jsonOf(desc: DescMessage, value: RawValue): JsonValue {
  const said = typeof value === "string" ? (WORDS[desc.typeName]?.(value) ?? {}) : blockOf(value);
  return Object.fromEntries(
    desc.fields.flatMap((field) => {
      const own = said[field.name];
      return own === undefined ? [] : [[field.name, jsonOfField(field, own)]];
    }),
  );
}

function jsonOfField(field: DescField, value: RawValue): JsonValue {
  const each = (one: RawValue): JsonValue => {
    if (field.message !== undefined) return jsonOf(field.message, one);
    return field.scalar === ScalarType.BOOL ? one === "true" : String(one);
  };
  if (field.fieldKind === "list") return (Array.isArray(value) ? value : []).map(each);
  if (field.fieldKind === "map")
    return Object.fromEntries(Object.entries(blockOf(value)).map(([name, one]) => [name, each(one)]));
  return each(value);
}

/**
 * The fields in which a block says something else than a spec. A field that is left out says its default, and a secret
 * that a spec does not show differs in nothing.
 */
export function differingFields(kind: ObjectKind, spec: Spec | undefined, block: Block): readonly string[] {
  const before = spec === undefined ? {} : blockOfSpec(spec);
  const after = blockOfSpec(specOfBlock(kind, block));
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  for (const name of secretsOf(kind)) if (before[name] === undefined || after[name] === undefined) names.delete(name);
  return [...names].filter((name) => JSON.stringify(sorted(before[name])) !== JSON.stringify(sorted(after[name])));
}
