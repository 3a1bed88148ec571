/** Whether answers fit OpenAI's own OpenAPI document, which `npm run openapi` brings. */
import { readFileSync } from "node:fs";
import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";

/** The schema of each subject of `answer-check.ts` that the document knows. */
const SCHEMAS: Readonly<Record<string, string>> = {
  chat: "CreateChatCompletionResponse",
  chatEvent: "CreateChatCompletionStreamResponse",
  completion: "CreateCompletionResponse",
  embeddings: "CreateEmbeddingResponse",
  response: "Response",
  responseEvent: "ResponseStreamEvent",
  inputTokens: "TokenCountsResource",
  compaction: "CompactResource",
  openaiModels: "ListModelsResponse",
  openaiModel: "Model",
  openaiError: "ErrorResponse",
};

export class OpenapiFitting {
  readonly #ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });
  readonly #validators = new Map<string, ValidateFunction>();

  /** @param file The document as JSON. */
  constructor(file: string) {
    const document = JSON.parse(readFileSync(file, "utf8")) as { components: { schemas: object } };
    this.#ajv.addSchema({ components: { schemas: plain(document.components.schemas) } }, "openapi");
  }

  /** Says what of the value does not fit; undefined where all of it does, and for a subject that is not OpenAI's. */
  misfit(subject: string, value: unknown): string | undefined {
    const schema = SCHEMAS[subject];
    if (schema === undefined) return undefined;
    let validate = this.#validators.get(schema);
    if (validate === undefined) {
      validate = this.#ajv.compile({ $ref: `openapi#/components/schemas/${schema}` });
      this.#validators.set(schema, validate);
    }
    if (validate(value)) return undefined;
    const { instancePath, message, params } = nearest(validate.errors ?? []);
    const place = instancePath.replaceAll("/", ".") || "the whole";
    return `${place} ${message} ${JSON.stringify(params)} by OpenAI's ${schema}`;
  }
}

/** An alternative that is not meant says so by its constants; the one that is meant is read farthest. */
function nearest(errors: readonly ErrorObject[]): Pick<ErrorObject, "instancePath" | "message" | "params"> {
  const nearness = ({ instancePath, keyword }: ErrorObject): number =>
    instancePath.split("/").length - (keyword === "const" || keyword === "enum" ? 0.5 : 0);
  const [first] = errors.toSorted((one, other) => nearness(other) - nearness(one));
  return first ?? { instancePath: "", message: "does not fit", params: {} };
}

/** As JSON Schema has it: `nullable` is of OpenAPI before 3.1, and a discriminator only repeats what the rest says. */
function plain(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(plain);
  if (!(schema instanceof Object)) return schema;
  const { nullable, ...members } = Object.fromEntries(
    Object.entries(schema).flatMap(([name, value]) =>
      name === "discriminator" || name === "example" ? [] : [[name, plain(value)]],
    ),
  );
  return nullable === true ? { anyOf: [members, { type: "null" }] } : members;
}
