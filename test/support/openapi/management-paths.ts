/** The paths under `/api/v1`, made of the protocol's http options. */
import type { HttpRule, MethodDescription } from "../../../src/api/descriptors.js";
import { methods } from "../../../src/api/descriptors.js";
import { isRequired, type MessageSchemas, type Schema } from "./message-schemas.js";

/** An operation at its path. */
export interface PathOperation {
  readonly path: string;
  readonly verb: string;
  readonly operation: Schema;
}

/** Bodies that a fresh gateway takes, in this order: what one makes, the next may name. */
export const EXAMPLES: Readonly<Record<string, Schema>> = {
  CreateAccount: { id: "acme", name: "Acme" },
  CreditAccount: { amount: "25.00", credit_id: "invoice-7" },
  UpdateAccount: { settings: { budget_day: "5.00" } },
  CreateKey: { account_id: "acme", settings: { name: "ci", models: ["sim-*"] } },
  DebitAccount: { amount: "1.00", debit_id: "refund-7", reason: "a mistyped credit" },
  FreezeAccount: { reason: "chargeback" },
  UnfreezeAccount: {},
  VerifyLedger: {},
};
/** What a path's names are in these examples. */
export const EXAMPLE_ID = "acme";

export function managementPaths(
  schemas: MessageSchemas,
  comments: ReadonlyMap<string, string>,
): readonly PathOperation[] {
  return methods().flatMap((method) => {
    const { http } = method;
    return http === undefined
      ? []
      : [
          {
            path: pathOf(http),
            verb: http.verb.toLowerCase(),
            operation: operationOf(method, http, schemas, comments),
          },
        ];
  });
}

function pathOf({ pattern }: HttpRule): string {
  return pattern.replaceAll(/\{(\w+)=\*\*\}/g, "{$1}");
}

function operationOf(
  { desc, permission }: MethodDescription,
  http: HttpRule,
  schemas: MessageSchemas,
  comments: ReadonlyMap<string, string>,
): Schema {
  const text = comments.get(`${desc.parent.typeName}.${desc.name}`) ?? "";
  const [summary = "", ...rest] = text.split(/(?<=\.)(?: |\n\n)/);
  const inPath = [...http.pattern.matchAll(/\{(\w+)/g)].map(([, name = ""]) => name);
  const example = EXAMPLES[desc.name];
  return {
    operationId: desc.name.charAt(0).toLowerCase() + desc.name.slice(1),
    tags: [desc.parent.name],
    summary: summary.replace(/\.$/, ""),
    ...(rest.length === 0 ? {} : { description: rest.join(" ") }),
    ...parametersOf(desc.input.fields, inPath, http, schemas),
    ...(http.body === ""
      ? {}
      : {
          requestBody: {
            required: true,
            content: {
              "application/json": {
                // Where the body is one field, it is whatever that field's sender makes it.
                schema: http.body === "*" ? schemas.whole(desc.input, inPath) : { type: "object" },
                ...(example === undefined ? {} : { example }),
              },
            },
          },
        }),
    ...needs(permission),
    responses: {
      200:
        desc.methodKind === "server_streaming"
          ? {
              description: "Server-sent events, each with one message as its data.",
              content: { "text/event-stream": { schema: { type: "string" } } },
            }
          : { description: "The answer.", content: { "application/json": { schema: schemas.reference(desc.output) } } },
      default: { $ref: "#/components/responses/Refusal" },
    },
  };
}

function parametersOf(
  fields: MethodDescription["desc"]["input"]["fields"],
  inPath: readonly string[],
  http: HttpRule,
  schemas: MessageSchemas,
): Schema {
  const parameters = fields.flatMap((field) => {
    const isPath = inPath.includes(field.name);
    if (!isPath && http.body !== "") return [];
    const { description, ...schema } = schemas.field(field);
    return [
      {
        name: field.name,
        in: isPath ? "path" : "query",
        ...(isPath || isRequired(field) ? { required: true } : {}),
        ...(description === undefined ? {} : { description }),
        schema,
      },
    ];
  });
  return parameters.length === 0 ? {} : { parameters };
}

function needs(permission: MethodDescription["permission"]): Schema {
  if (permission?.open === true) return { security: [], "x-tollgate-permission": "public" };
  if (permission?.user === true) return { security: [{ session: [] }], "x-tollgate-permission": "person" };
  const scope = permission?.operator === true ? "operator" : (permission?.scope ?? "");
  return { "x-tollgate-permission": scope === "" ? "any key" : scope };
}
