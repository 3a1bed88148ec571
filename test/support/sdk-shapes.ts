/** What the official SDKs declare of answers and events, read from their declarations by the TypeScript compiler. */
import type ts from "typescript";
import { keptReading } from "./kept-reading.js";
import { DECLARATIONS_URL, sdkDeclarations } from "./sdk-declarations.js";
import type { Shape, ShapeBook } from "./shape.js";
import { typescript } from "./typescript.js";

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
  return keptReading("sdk-shapes", [import.meta.url, DECLARATIONS_URL], () => {
    const { checker, declared } = sdkDeclarations(SUBJECTS);
    return new Declarations(checker).read(declared);
  });
}

class Declarations {
  readonly #checker: ts.TypeChecker;
  readonly #shapes: Shape[] = [];
  readonly #places = new Map<ts.Type, number>();

  constructor(checker: ts.TypeChecker) {
    this.#checker = checker;
  }

  read(declared: ts.InterfaceDeclaration): ShapeBook {
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
    const { IndexKind, TypeFlags } = typescript();
    if (type.isStringLiteral() || type.isNumberLiteral()) return { kind: "literal", value: type.value };
    if (type.flags & TypeFlags.BooleanLiteral)
      return { kind: "literal", value: this.#checker.typeToString(type) === "true" };
    if (type.flags & TypeFlags.Null) return { kind: "literal", value: null };
    if (type.isUnion()) return this.#unionOf(type.types);
    if (type.flags & TypeFlags.StringLike || isOpenString(type)) return { kind: "string" };
    if (type.flags & TypeFlags.NumberLike) return { kind: "number" };
    if (type.flags & TypeFlags.BooleanLike) return { kind: "boolean" };
    if (!(type.flags & (TypeFlags.Object | TypeFlags.Intersection))) return { kind: "anything" };
    if (this.#checker.isArrayLikeType(type)) {
      const element = this.#checker.getIndexTypeOfType(type, IndexKind.Number);
      return element === undefined ? { kind: "anything" } : { kind: "array", of: this.#place(element) };
    }
    return this.#objectOf(type);
  }

  #unionOf(types: readonly ts.Type[]): Shape {
    const { TypeFlags } = typescript();
    const present = types.filter(({ flags }) => !(flags & TypeFlags.Undefined));
    return { kind: "union", of: present.map((one) => this.#place(one)) };
  }

  #objectOf(type: ts.Type): Shape {
    const { IndexKind, SymbolFlags } = typescript();
    // What a class does is no part of what is sent.
    const behaviour = SymbolFlags.Accessor | SymbolFlags.Method;
    const properties = this.#checker.getPropertiesOfType(type).filter(({ flags }) => !(flags & behaviour));
    const rest = this.#checker.getIndexTypeOfType(type, IndexKind.String);
    if (properties.length === 0 && rest === undefined) return { kind: "anything" };
    const members = properties.map((property) => {
      const isOptional = (property.flags & SymbolFlags.Optional) !== 0;
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
  const { TypeFlags } = typescript();
  return type.isIntersection() && type.types.some(({ flags }) => (flags & TypeFlags.String) !== 0);
}
