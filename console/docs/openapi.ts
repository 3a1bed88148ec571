/** What the gateway says of its own requests, as OpenAPI describes them: only what the reference shows. */

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
}

interface Body {
  readonly content?: Readonly<Record<string, { readonly schema?: Schema; readonly example?: unknown }>>;
}

interface Said {
  readonly operationId?: string;
  readonly summary?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly description?: string;
    readonly schema?: Schema;
  }[];
  readonly requestBody?: Body;
  readonly responses?: Readonly<Record<string, Body>>;
  readonly "x-tollgate-permission"?: string;
}

export interface Description {
  readonly tags: readonly { readonly name: string; readonly description?: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Said>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

export interface Operation {
  readonly verb: string;
  readonly path: string;
  readonly said: Said;
}

export interface FieldSaid {
  readonly name: string;
  readonly type: string;
  readonly about: string;
}

const JSON_TYPE = "application/json";
const REFERENCE = "#/components/schemas/";

/** The requests by what they are about, in the order of the description. */
export function operationsOf({ tags, paths }: Description): readonly {
  readonly tag: string;
  readonly about: string;
  readonly operations: readonly Operation[];
}[] {
  const all = Object.entries(paths).flatMap(([path, verbs]) =>
    Object.entries(verbs)
      .filter(([, said]) => said.operationId !== undefined)
      .map(([verb, said]) => ({ verb: verb.toUpperCase(), path, said })),
  );
  return tags.map(({ name, description = "" }) => ({
    tag: name,
    about: description,
    operations: all.filter(({ said }) => said.tags?.includes(name) === true),
  }));
}

/** What an operation takes, in its path, its query and its body, and what it gives. */
export function fieldsOf(
  description: Description,
  said: Said,
): { readonly takes: readonly FieldSaid[]; readonly gives: readonly FieldSaid[] } {
  const parameters = (said.parameters ?? []).map(({ name, schema, description: about = "" }) => ({
    name,
    type: typeOf(schema),
    about,
  }));
  const body = propertiesOf(description, schemaOf(said.requestBody));
  return { takes: [...parameters, ...body], gives: propertiesOf(description, schemaOf(said.responses?.["200"])) };
}

/** The operation as curl runs it, with the reader's own address and key in it. */
export function exampleOf({ verb, path, said }: Operation, origin: string, secret: string): string {
  const body = said.requestBody?.content?.[JSON_TYPE];
  const lines = [
    `curl ${verb === "GET" ? "" : `-X ${verb} `}"${origin}${path}"`,
    `  -H "Authorization: Bearer ${secret}"`,
  ];
  if (body !== undefined)
    lines.push(`  -H "Content-Type: application/json"`, `  -d '${quoted(JSON.stringify(body.example ?? {}))}'`);
  return lines.join(" \\\n");
}

function quoted(text: string): string {
  return text.replaceAll("'", `'\\''`);
}

function schemaOf(body: Body | undefined): Schema | undefined {
  return body?.content?.[JSON_TYPE]?.schema;
}

function propertiesOf({ components }: Description, schema: Schema | undefined): readonly FieldSaid[] {
  const named = schema?.$ref === undefined ? schema : components.schemas[schema.$ref.slice(REFERENCE.length)];
  return Object.entries(named?.properties ?? {}).map(([name, field]) => ({
    name,
    type: typeOf(field),
    about: field.description ?? "",
  }));
}

function typeOf(schema: Schema | undefined): string {
  if (schema?.$ref !== undefined) return schema.$ref.slice(REFERENCE.length);
  if (schema?.items !== undefined) return `${typeOf(schema.items)}[]`;
  return schema?.format ?? [schema?.type ?? ""].flat().join(" or ");
}
