/** What the official SDKs can send: the members, tools and betas of their requests, read from the SDKs themselves. */
import { readFileSync } from "node:fs";
import type ts from "typescript";
import { keptReading } from "./kept-reading.js";
import { DECLARATIONS_URL, SDK_ROOT, sdkDeclarations } from "./sdk-declarations.js";
import { typescript } from "./typescript.js";

/** Members by the wire that they are sent on, types of tools by their wire, and values of a header. */
const SUBJECTS = `
import type { ChatCompletionCreateParams, ChatCompletionTool } from "openai/resources/chat/completions";
import type { CompletionCreateParams } from "openai/resources/completions";
import type { EmbeddingCreateParams } from "openai/resources/embeddings";
import type { ResponseCreateParams, Tool } from "openai/resources/responses/responses";
import type { InputTokenCountParams } from "openai/resources/responses/input-tokens";
import type * as Anthropic from "@anthropic-ai/sdk/resources/messages";
import type * as Beta from "@anthropic-ai/sdk/resources/beta/messages/messages";
import type { AnthropicBeta } from "@anthropic-ai/sdk/resources/beta/beta";
export interface Subjects {
  "openai-chat": ChatCompletionCreateParams;
  "openai-completions": CompletionCreateParams;
  "openai-embeddings": EmbeddingCreateParams;
  "openai-responses": ResponseCreateParams | InputTokenCountParams;
  anthropic:
    | Anthropic.MessageCreateParams
    | Anthropic.MessageCountTokensParams
    | Beta.MessageCreateParams
    | Beta.MessageCountTokensParams;
  "tools of openai-chat": ChatCompletionTool;
  "tools of openai-responses": Tool;
  "tools of anthropic": Anthropic.ToolUnion | Beta.BetaToolUnion;
  betas: AnthropicBeta;
}
`;
/** The functions of Google's SDK that write a request, for each of its two services. */
const GOOGLE = /^(generateContentConfig|generateContentParameters|tool)To(Mldev|Vertex)(\$\d+)?$/;

export interface SdkRequests {
  /** By the wire: the names of members at the top of a body. */
  readonly members: ReadonlyMap<string, readonly string[]>;
  /** By the wire: what tells one tool from another. */
  readonly tools: ReadonlyMap<string, readonly string[]>;
  /** Members of Google's `generationConfig`. */
  readonly generationConfig: readonly string[];
  readonly betas: readonly string[];
}

/** Reads the declarations anew where a package has changed since they were last read. */
export function sdkRequests(): SdkRequests {
  const { members, tools, ...rest } = keptReading("sdk-requests", [import.meta.url, DECLARATIONS_URL], readRequests);
  return { members: new Map(members), tools: new Map(tools), ...rest };
}

interface KeptRequests extends Pick<SdkRequests, "generationConfig" | "betas"> {
  readonly members: readonly (readonly [string, readonly string[]])[];
  readonly tools: readonly (readonly [string, readonly string[]])[];
}

function readRequests(): KeptRequests {
  const { checker, declared } = sdkDeclarations(SUBJECTS);
  const google = googleRequests();
  const members = new Map([["gemini", google.members]]);
  const tools = new Map([["gemini", google.tools]]);
  let betas: readonly string[] = [];
  for (const subject of checker.getTypeAtLocation(declared).getProperties()) {
    const type = checker.getTypeOfSymbol(subject);
    if (subject.name === "betas") betas = literalsOf(type);
    else if (subject.name.startsWith("tools of ")) tools.set(subject.name.slice(9), typesOf(checker, type));
    else members.set(subject.name, bodyMembers(checker, type));
  }
  return { members: [...members], tools: [...tools], betas, generationConfig: google.generationConfig };
}

function alternativesOf(type: ts.Type): readonly ts.Type[] {
  return type.isUnion() ? type.types : [type];
}

function literalsOf(type: ts.Type): string[] {
  return alternativesOf(type).flatMap((one) => (one.isStringLiteral() ? [one.value] : []));
}

/** All but what the SDK sends as a header, of which its comment says so. */
function bodyMembers(checker: ts.TypeChecker, type: ts.Type): string[] {
  const names = new Set<string>();
  for (const one of alternativesOf(type))
    for (const property of checker.getPropertiesOfType(one)) {
      const comment = typescript().displayPartsToString(property.getDocumentationComment(checker));
      if (!comment.startsWith("Header param")) names.add(property.name);
    }
  return [...names].toSorted();
}

/** The `type` of each alternative. */
function typesOf(checker: ts.TypeChecker, type: ts.Type): string[] {
  const names = alternativesOf(type).flatMap((one) => {
    const discriminator = one.getProperty("type");
    return discriminator === undefined ? [] : literalsOf(checker.getTypeOfSymbol(discriminator));
  });
  return [...new Set(names)].toSorted();
}

interface GoogleRequests {
  readonly members: string[];
  readonly generationConfig: string[];
  readonly tools: string[];
}

/**
 * Google's types are not what is sent: the SDK writes each member to a place of its own. Those places are read from its
 * code, from the calls that write one.
 */
function googleRequests(): GoogleRequests {
  const path = `${SDK_ROOT}node_modules/@google/genai/dist/node/index.mjs`;
  const { createSourceFile, isFunctionDeclaration, ScriptTarget } = typescript();
  const source = createSourceFile(path, readFileSync(path, "utf8"), ScriptTarget.ES2023);
  const found = { members: new Set<string>(), generationConfig: new Set<string>(), tools: new Set<string>() };
  for (const statement of source.statements) {
    if (!isFunctionDeclaration(statement) || statement.name === undefined) continue;
    const [, writer] = GOOGLE.exec(statement.name.text) ?? [];
    if (writer === undefined) continue;
    const own = { generateContentConfig: found.generationConfig, tool: found.tools }[writer] ?? found.members;
    for (const { object, name } of placesIn(statement)) {
      // The path of the URL is no member of the body.
      if (name !== "_url") (object === "parentObject" ? found.members : own).add(name);
    }
  }
  const { members, generationConfig, tools } = found;
  return { members: [...members], generationConfig: [...generationConfig], tools: [...tools] };
}

/** The first step of each path that a function writes at, and the object it writes to. */
function placesIn(writer: ts.Node): { readonly object: string; readonly name: string }[] {
  const compiler = typescript();
  const places: { object: string; name: string }[] = [];
  const look = (node: ts.Node): void => {
    if (
      compiler.isCallExpression(node) &&
      compiler.isIdentifier(node.expression) &&
      node.expression.text === "setValueByPath"
    ) {
      const [object, path] = node.arguments;
      const first = path !== undefined && compiler.isArrayLiteralExpression(path) ? path.elements[0] : undefined;
      if (
        object !== undefined &&
        compiler.isIdentifier(object) &&
        first !== undefined &&
        compiler.isStringLiteral(first)
      )
        places.push({ object: object.text, name: first.text });
    }
    compiler.forEachChild(node, look);
  };
  look(writer);
  return places;
}
