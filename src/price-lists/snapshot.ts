/** A snapshot of published prices: a signed file whose serial rises. It is read whole or refused whole. */
import { createPublicKey, type KeyObject, sign, verify } from "node:crypto";
import type { ConditionalPrice, MatchLogic, ModelInfo } from "@pydantic/genai-prices";
import { z } from "zod";
import { tierName } from "./components.js";

const SCHEMA = 1;
const SAME_START = "two prices start at the same time";
const MODELS_MAX = 20_000;
/** A million USD per million tokens. */
const PRICE_MAX = 1e6;

/** A model as the snapshot has it, and what other sources say of its components. */
export interface SnapshotModel {
  readonly model: ModelInfo;
  /** By the name of the source, then by component. */
  readonly others: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

export interface Snapshot {
  readonly serial: number;
  /** Times in ISO 8601. */
  readonly made: string;
  readonly expires: string;
  /** By the ids of their providers. */
  readonly providers: ReadonlyMap<string, readonly SnapshotModel[]>;
}

/** Why a snapshot is not taken, as the end of a sentence that begins with "the snapshot". */
export class SnapshotRefusal extends Error {}

const price = z.number().min(0).max(PRICE_MAX);
const tiers = z
  .array(z.strictObject({ start: z.int().min(0), price }))
  .min(1)
  .max(20)
  // Two tiers at one threshold would be compared and shown as one.
  .refine((all) => new Set(all.map(({ start }) => tierName("", start))).size === all.length);
const component = z.union([price, z.strictObject({ base: price, tiers })]);
const name = z.string().regex(/^[a-z0-9_]{1,64}$/);
const components = z.record(name, component);
const day = z.iso.date();
const hour = z.string().regex(/^(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:Z|[+-](?:0\d|1\d|2[0-3]):[0-5]\d)$/);
const dated = z.strictObject({ type: z.literal("start_date").default("start_date"), start_date: day });
const timed = z.strictObject({
  type: z.literal("time_of_date").default("time_of_date"),
  start_time: hour,
  end_time: hour,
});
const conditional = z
  .strictObject({ constraint: z.union([dated, timed]).optional(), prices: components })
  .transform(({ constraint, prices }): ConditionalPrice =>
    constraint === undefined ? { prices } : { constraint, prices },
  );
const words = z.string().min(1).max(200);
const expression = words.refine(isExpression, { error: "is no regular expression" });
const match: z.ZodType<MatchLogic> = z.lazy(() =>
  z.union([
    z.strictObject({ equals: words }),
    z.strictObject({ starts_with: words }),
    z.strictObject({ ends_with: words }),
    z.strictObject({ contains: words }),
    z.strictObject({ regex: expression }),
    z.strictObject({ or: z.array(match).min(1).max(200) }),
    z.strictObject({ and: z.array(match).min(1).max(200) }),
  ]),
);

/** What a list in the form of genai-prices says of a model; what prices do not need is left out. */
export const LISTED_MODEL = z
  .object({
    id: z.string().regex(/^[^\s#]{1,200}$/),
    match,
    context_window: z.int().min(1).optional(),
    prices: z.union([components, z.array(conditional).min(1).max(50).refine(startApart, { error: SAME_START })]),
  })
  .transform(({ id, match, context_window, prices }): ModelInfo => {
    const model = { id, match, prices };
    return context_window === undefined ? model : { ...model, context_window };
  });

const sourced = z.record(z.string().min(1).max(40), z.record(z.string().max(80), price));
const PAYLOAD = z.object({
  serial: z.int().min(1),
  made: z.iso.datetime(),
  expires: z.iso.datetime(),
  providers: z
    .array(
      z.object({
        id: name.or(z.string().regex(/^[a-z0-9_-]{1,64}$/)),
        models: z.array(z.object({ model: LISTED_MODEL, others: sourced })).max(MODELS_MAX),
      }),
    )
    .min(1)
    .max(100),
});
const VERSIONED = z.object({ schema: z.int() });
const ENVELOPE = z.object({
  payload: z.string().min(1),
  signatures: z
    .array(z.object({ key: z.string(), signature: z.base64() }))
    .min(1)
    .max(10),
});

/**
 * The snapshot of a file. `keys`: the public keys that are trusted, as base64 of 32 bytes; one of them must have signed
 * it. Throws SnapshotRefusal.
 */
export function readSnapshot(text: string, keys: readonly string[]): Snapshot {
  const { payload, signatures } = parsed(text, ENVELOPE);
  const bytes = Buffer.from(payload);
  const isSigned = signatures.some(
    ({ key, signature }) =>
      keys.includes(key) && verify(null, bytes, publicKeyOf(key), Buffer.from(signature, "base64")),
  );
  if (!isSigned) throw new SnapshotRefusal("has no signature of a trusted key");
  const { schema } = parsed(payload, VERSIONED);
  if (schema !== SCHEMA) throw new SnapshotRefusal(`has the schema ${schema}, and this program reads ${SCHEMA}`);
  const { providers, ...facts } = parsed(payload, PAYLOAD);
  for (const { id, models } of providers)
    if (new Set(models.map(({ model }) => model.id)).size < models.length)
      throw new SnapshotRefusal(`names a model of ${id} twice`);
  return { ...facts, providers: new Map(providers.map(({ id, models }) => [id, models])) };
}

/** A file that holds the snapshot, signed with one or more private keys. */
export function writeSnapshot({ providers, ...facts }: Snapshot, keys: readonly KeyObject[]): string {
  const listed = [...providers].map(([id, models]) => ({ id, models }));
  const payload = JSON.stringify({ schema: SCHEMA, ...facts, providers: listed });
  const bytes = Buffer.from(payload);
  const signatures = keys.map((key) => ({
    key: keyTextOf(createPublicKey(key)),
    signature: sign(null, bytes, key).toString("base64"),
  }));
  return `${JSON.stringify({ payload, signatures })}\n`;
}

/** A public key as settings name it; undefined where it is none. */
export function readKey(text: string): KeyObject | undefined {
  const bytes = Buffer.from(text, "base64");
  if (bytes.length !== 32 || bytes.toString("base64") !== text) return undefined;
  return createPublicKey({ format: "jwk", key: { kty: "OKP", crv: "Ed25519", x: bytes.toString("base64url") } });
}

export function keyTextOf(key: KeyObject): string {
  return Buffer.from(key.export({ format: "jwk" }).x ?? "", "base64url").toString("base64");
}

function publicKeyOf(text: string): KeyObject {
  const key = readKey(text);
  if (key === undefined) throw new SnapshotRefusal("is signed with a key that is no Ed25519 key");
  return key;
}

function parsed<Schema extends z.ZodType>(text: string, schema: Schema): z.output<Schema> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new SnapshotRefusal("is no JSON");
  }
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw new SnapshotRefusal(`is malformed at ${issue?.path.join(".") ?? ""}: ${issue?.message ?? ""}`);
}

/** Of two prices that start together one would hide the other. */
function startApart(all: readonly ConditionalPrice[]): boolean {
  const starts = all.map(({ constraint }) => {
    if (constraint === undefined) return "always";
    return "start_date" in constraint ? constraint.start_date : startOf(constraint.start_time);
  });
  return new Set(starts).size === starts.length;
}

/** A time of day with its zone, as a time in UTC. */
function startOf(time: string): string {
  return new Date(Date.parse(`2000-01-01T${time}`)).toISOString().slice(11);
}

function isExpression(text: string): boolean {
  try {
    return new RegExp(text).source !== "";
  } catch {
    return false;
  }
}
