/** What the official SDKs declare of answers and events, read from their declarations by the TypeScript compiler. */
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import ts from "typescript";
import { SDK_ROOT, sdkDeclarations } from "./sdk-declarations.js";
import type { Shape, ShapeBook } from "./shape.js";

const KEPT_IN = `${SDK_ROOT}node_modules/.cache/tollgate/sdk-shapes.json`;
const PACKAGES = ["openai", "@anthropic-ai/sdk", "@google/genai", "typescript"];

/** Each member is a subject that an answer is checked against. */
const SUBJECTS = `
import type { ChatCompletion, ChatCompletionChunk } from "openai/resources/chat/completions";
import type { Completion } from "openai/resources/completions";
import type { CreateEmbeddingResponse } from "openai/resources/embeddings";
import type { Model as OpenAIModel } from "openai/resources/models";
import type { CompactedResponse, Response, ResponseStreamEvent } from "openai/resources/responses/responses";
import type { InputTokenCountResponse } from "openai/resources/responses/input-tokens";
import type { ErrorObject } from "openai/resources/shared";
import type * as Anthropic from "@anthropic-ai/sdk/resources/messages";
import type * as Beta from "@anthropic-ai/sdk/resources/beta/messages/messages";
import type { ModelInfo } from "@anthropic-ai/sdk/resources/models";
import type { ErrorResponse } from "@anthropic-ai/sdk/resources/shared";
import type * as Google from "@google/genai";
export interface Subjects {
  chat: ChatCompletion;
  chatEvent: ChatCompletionChunk;
  completion: Completion;
  embeddings: CreateEmbeddingResponse;
  openaiModels: { object: "list"; data: OpenAIModel[]; has_more?: boolean; first_id?: unknown; last_id?: unknown };
  openaiModel: OpenAIModel;
  openaiError: { error: ErrorObject };
  response: Response;
  responseEvent: ResponseStreamEvent;
  inputTokens: InputTokenCountResponse;
  compaction: CompactedResponse;
  message: Anthropic.Message;
  messageEvent: Anthropic.RawMessageStreamEvent | { type: "ping" };
  betaMessage: Beta.BetaMessage;
  betaMessageEvent: Beta.BetaRawMessageStreamEvent | { type: "ping" };
  messageTokens: Anthropic.MessageTokensCount;
  anthropicModels: {
    object?: "list";
    data: ModelInfo[];
    has_more: boolean;
    first_id: string | null;
    last_id: string | null;
  };
  anthropicModel: ModelInfo;
  anthropicError: ErrorResponse;
  content: Google.GenerateContentResponse;
  contentTokens: Google.CountTokensResponse;
  googleModels: { models: Google.Model[]; nextPageToken?: string };
  googleModel: Google.Model;
  googleError: { error: { code: number; message: string; status: string; details?: unknown[] } };
}
`;

/** Reads the declarations anew where a package has changed since they were last read. */
export function sdkShapes(): ShapeBook {
  const versions = `${PACKAGES.map(versionOf).join(" ")} ${SUBJECTS}`;
  if (existsSync(KEPT_IN)) {
    const kept = JSON.parse(readFileSync(KEPT_IN, "utf8")) as ShapeBook;
    if (kept.versions === versions) return kept;
  }
  const book = { ...readDeclarations(), versions };
  mkdirSync(dirname(KEPT_IN), { recursive: true });
  writeFileSync(`${KEPT_IN}.${process.pid}`, JSON.stringify(book));
  renameSync(`${KEPT_IN}.${process.pid}`, KEPT_IN);
  return book;
}

function versionOf(name: string): string {
  const { version } = JSON.parse(readFileSync(`${SDK_ROOT}node_modules/${name}/package.json`, "utf8")) as {
    version: string;
  };
  return `${name}@${version}`;
}

function readDeclarations(): Omit<ShapeBook, "versions"> {
  const { checker, declared } = sdkDeclarations(SUBJECTS);
  return new Declarations(checker).read(declared);
}

class Declarations {
  readonly #checker: ts.TypeChecker;
  readonly #shapes: Shape[] = [];
  readonly #places = new Map<ts.Type, number>();

  constructor(checker: ts.TypeChecker) {
    this.#checker = checker;
  }

  read(declared: ts.InterfaceDeclaration): Omit<ShapeBook, "versions"> {
    const type = this.#checker.getTypeAtLocation(declared);
    const subjects = type.getProperties().map((property) => {
      const shape = this.#place(this.#checker.getTypeOfSymbol(property));
      return [property.name, shape] as const;
    });
    return { shapes: this.#shapes, subjects: Object.fromEntries(subjects) };
  }

  /** The place of a type's shape; the place is known before the shape is, since types hold themselves. */
  #place(type: ts.Type): number {
    const known = this.#places.get(type);
    if (known !== undefined) return known;
    const place = this.#shapes.push({ kind: "anything" }) - 1;
    this.#places.set(type, place);
    this.#shapes[place] = this.#shapeOf(type);
    return place;
  }

  #shapeOf(type: ts.Type): Shape {
    if (type.isStringLiteral() || type.isNumberLiteral()) return { kind: "literal", value: type.value };
    if (type.flags & ts.TypeFlags.BooleanLiteral)
      return { kind: "literal", value: this.#checker.typeToString(type) === "true" };
    if (type.flags & ts.TypeFlags.Null) return { kind: "literal", value: null };
    if (type.isUnion()) return this.#unionOf(type.types);
    if (type.flags & ts.TypeFlags.StringLike || isOpenString(type)) return { kind: "string" };
    if (type.flags & ts.TypeFlags.NumberLike) return { kind: "number" };
    if (type.flags & ts.TypeFlags.BooleanLike) return { kind: "boolean" };
    if (!(type.flags & (ts.TypeFlags.Object | ts.TypeFlags.Intersection))) return { kind: "anything" };
    if (this.#checker.isArrayLikeType(type)) {
      const element = this.#checker.getIndexTypeOfType(type, ts.IndexKind.Number);
      return element === undefined ? { kind: "anything" } : { kind: "array", of: this.#place(element) };
    }
    return this.#objectOf(type);
  }

  #unionOf(types: readonly ts.Type[]): Shape {
    const present = types.filter(({ flags }) => !(flags & ts.TypeFlags.Undefined));
    return { kind: "union", of: present.map((one) => this.#place(one)) };
  }

  #objectOf(type: ts.Type): Shape {
    // What a class does is no part of what is sent.
    const behaviour = ts.SymbolFlags.Accessor | ts.SymbolFlags.Method;
    const properties = this.#checker.getPropertiesOfType(type).filter(({ flags }) => !(flags & behaviour));
    const rest = this.#checker.getIndexTypeOfType(type, ts.IndexKind.String);
    if (properties.length === 0 && rest === undefined) return { kind: "anything" };
    const members = properties.map((property) => {
      const isOptional = (property.flags & ts.SymbolFlags.Optional) !== 0;
      const of = this.#place(this.#checker.getTypeOfSymbol(property));
      return [property.name, isOptional ? { of, isOptional } : { of }] as const;
    });
    const symbol = type.aliasSymbol ?? type.getSymbol();
    const name = symbol === undefined ? "" : this.#checker.getFullyQualifiedName(symbol).replace(/^".*"\./, "");
    return {
      kind: "object",
      name,
      members: Object.fromEntries(members),
      ...(rest === undefined ? {} : { rest: this.#place(rest) }),
    };
  }
}

/** `string & {}`: any text, beside the known ones that an editor offers. */
function isOpenString(type: ts.Type): boolean {
  return type.isIntersection() && type.types.some(({ flags }) => (flags & ts.TypeFlags.String) !== 0);
}
