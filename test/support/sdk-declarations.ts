/** Asks the TypeScript compiler what the official SDKs declare: an interface whose members are of their types. */
import { fileURLToPath } from "node:url";
import type ts from "typescript";
import { typescript } from "./typescript.js";

/** This file, for those that keep what they read. */
export const DECLARATIONS_URL = import.meta.url;
/** Where the packages are. */
export const SDK_ROOT = fileURLToPath(new URL("../../", import.meta.url));

export interface SdkDeclarations {
  readonly checker: ts.TypeChecker;
  /** The one interface of the source. */
  readonly declared: ts.InterfaceDeclaration;
}

/** What packages declare, parsed once for all that is read of them. */
const parsed = new Map<string, ts.SourceFile | undefined>();

/** Reads a source of one interface over imported types of the SDKs. Throws where they have no such types. */
export function sdkDeclarations(text: string): SdkDeclarations {
  const compiler = typescript();
  const path = `${SDK_ROOT}test/support/subjects-of-sdks.ts`;
  const options: ts.CompilerOptions = {
    strict: true,
    target: compiler.ScriptTarget.ES2023,
    lib: ["lib.es2023.d.ts", "lib.dom.d.ts", "lib.dom.iterable.d.ts"],
    module: compiler.ModuleKind.NodeNext,
    moduleResolution: compiler.ModuleResolutionKind.NodeNext,
    types: ["node"],
  };
  const host = compiler.createCompilerHost(options);
  const { fileExists, readFile, getSourceFile } = host;
  host.fileExists = (name) => name === path || fileExists(name);
  host.readFile = (name) => (name === path ? text : readFile(name));
  host.getSourceFile = (name, language, ...rest) => {
    if (name === path) return compiler.createSourceFile(name, text, language);
    if (!parsed.has(name)) parsed.set(name, getSourceFile.call(host, name, language, ...rest));
    return parsed.get(name);
  };
  const program = compiler.createProgram([path], options, host);
  const source = program.getSourceFile(path);
  if (source === undefined) throw new Error("the subjects were not read");
  const wrong = program.getSemanticDiagnostics(source).map(({ messageText }) => messageText);
  if (wrong.length > 0) throw new Error(`the SDKs do not declare what is asked for: ${JSON.stringify(wrong)}`);
  const declared = source.statements.find(compiler.isInterfaceDeclaration);
  if (declared === undefined) throw new Error("the subjects are not declared");
  return { checker: program.getTypeChecker(), declared };
}
