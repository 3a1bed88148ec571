/** Tools, the choice among them and the form of an answer, which OpenAI's wires say in one way but for its nesting. */
import { type OutputFormat, type Tool, type ToolChoice, ToolChoice_Mode } from "../../../api/index.js";
import { unsupported } from "../../error/refusals.js";
import { arrayText, checkedJson, jsonOf, type MemberTexts, objectText } from "../../json/text.js";
import { leftOutName } from "../../request/hosted-tools.js";
import { encodeParameters } from "./encode-fields.js";

/** Where an object says the rest of itself: beside its type, or in a member that is named by it. */
export type Nesting = "beside" | "below";

/** What writing the tools depends on. */
export interface ToolGrammar {
  /** Tools that only this wire understands are offered. */
  readonly wire: string;
  readonly nesting: Nesting;
  readonly model: string;
  readonly isForeign: boolean;
  /** False where the upstream knows no tools that take free text. */
  readonly customTools: boolean;
  /** What a function that is not strict says of that, as JSON. */
  readonly unstrict: string | undefined;
  /** Takes the name of what was left out. */
  readonly drop: (param: string) => void;
}

/** Undefined where none is left. Throws PARAMETER_UNSUPPORTED for a tool that must not be left out. */
export function encodeTools(tools: readonly Tool[], grammar: ToolGrammar): string | undefined {
  const texts = tools.flatMap((tool, place) => encodeTool(tool, `tools[${place}]`, grammar));
  return texts.length === 0 ? undefined : arrayText(texts);
}

function encodeTool({ kind }: Tool, path: string, grammar: ToolGrammar): string[] {
  switch (kind?.$case) {
    case "function": {
      const { name, description, parametersJson, strict } = kind.value;
      const members: MemberTexts = [
        ["name", jsonOf(name)],
        ["description", jsonOf(description)],
        ["parameters", encodeParameters(parametersJson, `${path}.parameters`, grammar.isForeign, grammar.drop)],
        ["strict", strict === true ? "true" : (grammar.unstrict ?? jsonOf(strict))],
      ];
      return [typedText("function", members, grammar.nesting)];
    }
    case "custom": {
      const { name, description, formatJson } = kind.value;
      if (!grammar.customTools) throw unsupported(path, "it knows no tools that take free text", grammar);
      const members: MemberTexts = [
        ["name", jsonOf(name)],
        ["description", jsonOf(description)],
        ["format", checkedJson(formatJson, `${path}.format`)],
      ];
      return [typedText("custom", members, grammar.nesting)];
    }
    case "opaque":
      // A tool that only another wire understands cannot be offered here.
      if (kind.value.wire === grammar.wire) return [checkedJson(kind.value.json, path) ?? "{}"];
      grammar.drop(leftOutName(kind.value.json));
      return [];
    case undefined:
      return [];
    default:
      return kind satisfies never;
  }
}

/** How an upstream says that some tool must be called, and whether it can be bound to several by name. */
export interface ChoiceWords {
  readonly requiredChoice: string;
  readonly allowedTools: boolean;
}

/** OpenAI's own. */
const OPENAIS: ChoiceWords = { requiredChoice: "required", allowedTools: true };

export function encodeToolChoice(
  choice: ToolChoice | undefined,
  nesting: Nesting,
  { requiredChoice, allowedTools }: ChoiceWords = OPENAIS,
): string | undefined {
  if (choice === undefined || choice.mode === ToolChoice_Mode.MODE_UNSPECIFIED) return undefined;
  if (choice.mode === ToolChoice_Mode.MODE_NONE) return '"none"';
  const isRequired = choice.mode === ToolChoice_Mode.MODE_REQUIRED;
  const isOneOfMany = choice.names.length > 0 && !(isRequired && choice.names.length === 1);
  if (choice.names.length === 0 || (isOneOfMany && !allowedTools))
    return isRequired ? JSON.stringify(requiredChoice) : '"auto"';
  const type = choice.custom ? "custom" : "function";
  const tools = choice.names.map((name) => typedText(type, [["name", JSON.stringify(name)]], nesting));
  if (isRequired && tools.length === 1) return tools[0];
  const members: MemberTexts = [
    ["mode", isRequired ? '"required"' : '"auto"'],
    ["tools", arrayText(tools)],
  ];
  return typedText("allowed_tools", members, nesting);
}

export function encodeOutputFormat(format: OutputFormat | undefined, nesting: Nesting): string | undefined {
  const kind = format?.kind;
  switch (kind?.$case) {
    case "text":
      return '{"type":"text"}';
    case "jsonObject":
      return '{"type":"json_object"}';
    case "jsonSchema": {
      const { name, description, schemaJson, strict } = kind.value;
      const members: MemberTexts = [
        ["name", jsonOf(name)],
        ["description", jsonOf(description)],
        ["schema", checkedJson(schemaJson, "output_format.schema")],
        ["strict", jsonOf(strict)],
      ];
      return typedText("json_schema", members, nesting);
    }
    case undefined:
      return undefined;
    default:
      return kind satisfies never;
  }
}

function typedText(type: string, members: MemberTexts, nesting: Nesting): string {
  const said: MemberTexts = nesting === "beside" ? members : [[type, objectText(members)]];
  return objectText([["type", JSON.stringify(type)], ...said]);
}
