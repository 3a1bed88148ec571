/** Messages of the protocol as JSON Schemas: the form in which `/api/v1` takes and gives them. */
import { type DescEnum, type DescField, type DescMessage, getOption, ScalarType } from "@bufbuild/protobuf";
import { FIELD_MASK, registry } from "../../../src/api/descriptors.js";
import { MONEY } from "../../../src/api/money-fields.js";

export type Schema = { [name: string]: unknown };

const REQUIRED = 2;
const WHOLE = { type: ["string", "integer"], pattern: "^-?\\d+$" };
const SCALARS: Readonly<Partial<Record<ScalarType, Schema>>> = {
  [ScalarType.BOOL]: { type: "boolean" },
  [ScalarType.BYTES]: { type: "string", contentEncoding: "base64" },
  [ScalarType.DOUBLE]: { type: "number" },
  [ScalarType.FLOAT]: { type: "number" },
  [ScalarType.INT32]: { type: "integer" },
  [ScalarType.UINT32]: { type: "integer", minimum: 0 },
  [ScalarType.INT64]: WHOLE,
  [ScalarType.UINT64]: WHOLE,
  [ScalarType.STRING]: { type: "string" },
};
const WELL_KNOWN: Readonly<Record<string, Schema>> = {
  "google.protobuf.Timestamp": { type: "string", format: "date-time" },
  "google.protobuf.Duration": { type: "string", pattern: "^-?\\d+(\\.\\d+)?s$" },
  "google.protobuf.Struct": { type: "object" },
  "google.protobuf.Value": {},
  "google.protobuf.ListValue": { type: "array" },
  [FIELD_MASK]: { type: "string", description: "Names of fields with commas between." },
  [MONEY]: { type: "string", pattern: "^-?\\d+(\\.\\d+)?( USD)?$", examples: ["25.00 USD"] },
};

/** Makes schemas, and keeps those of the messages that others refer to. */
export class MessageSchemas {
  /** By the message's name without its package. */
  readonly kept = new Map<string, Schema>();
  readonly #comments: ReadonlyMap<string, string>;

  constructor(comments: ReadonlyMap<string, string>) {
    this.#comments = comments;
  }

  /** A reference to a message's schema, which is kept. */
  reference(message: DescMessage): Schema {
    const name = message.typeName.replace("tollgate.v1.", "");
    if (!this.kept.has(name)) {
      // It may hold itself.
      this.kept.set(name, {});
      this.kept.set(name, this.whole(message));
    }
    return { $ref: `#/components/schemas/${name}` };
  }

  /** The schema of a message without some of its fields. */
  whole(message: DescMessage, without: readonly string[] = []): Schema {
    const fields = message.fields.filter(({ name }) => !without.includes(name));
    const required = fields.filter(isRequired).map(({ name }) => name);
    return {
      type: "object",
      ...this.#described(message.typeName),
      properties: Object.fromEntries(fields.map((field) => [field.name, this.field(field)])),
      ...(required.length === 0 ? {} : { required }),
    };
  }

  field(field: DescField): Schema {
    return { ...this.#form(field), ...this.#described(`${field.parent.typeName}.${field.name}`) };
  }

  #described(name: string): Schema {
    const description = this.#comments.get(name);
    return description === undefined ? {} : { description };
  }

  #form(field: DescField): Schema {
    switch (field.fieldKind) {
      case "list":
        return { type: "array", items: this.#single(field.scalar, field.enum, field.message) };
      case "map":
        return { type: "object", additionalProperties: this.#single(field.scalar, field.enum, field.message) };
      default:
        return this.#single(field.scalar, field.enum, field.message);
    }
  }

  #single(scalar: ScalarType | undefined, words: DescEnum | undefined, message: DescMessage | undefined): Schema {
    if (words !== undefined) return { type: "string", enum: words.values.map(({ name }) => name) };
    if (message !== undefined) return WELL_KNOWN[message.typeName] ?? this.reference(message);
    const form = scalar === undefined ? undefined : SCALARS[scalar];
    if (form === undefined) throw new Error(`no JSON form is known of the scalar ${scalar}`);
    return form;
  }
}

export function isRequired(field: DescField): boolean {
  const behavior = registry().getExtension("google.api.field_behavior");
  const said: unknown = behavior === undefined ? undefined : getOption(field, behavior);
  return Array.isArray(said) && said.includes(REQUIRED);
}
