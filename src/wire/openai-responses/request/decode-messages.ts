/** From the items of a body to typed messages: what the model said in one turn, and what its tools returned. */
import { type Message, type Part, Role } from "../../../api/index.js";
import { type JsonNode, ObjectReader, wrongValue } from "../../json/node.js";
import type { AskedTools } from "./decode-tools.js";
import { messageOf, opaquePart, partOf, textPart } from "../../request/part.js";
import { decodeContent } from "./decode-parts.js";
import { WIRE_NAME } from "../facts.js";
import { decodeProof } from "../answer/proof.js";
import { readSummary } from "../facts-summary.js";

const ROLES: ReadonlyMap<string, Role> = new Map([
  ["system", Role.ROLE_SYSTEM],
  ["developer", Role.ROLE_DEVELOPER],
  ["user", Role.ROLE_USER],
  ["assistant", Role.ROLE_ASSISTANT],
]);

/** Throws PARAMETER_INVALID or PARAMETER_MISSING with the path of what is wrong. */
export function decodeItems(nodes: readonly JsonNode[], tools: AskedTools): Message[] {
  const decoder = new ItemsDecoder(tools);
  nodes.forEach((node, place) => decoder.add(node, `input[${place}]`));
  return decoder.messages;
}

class ItemsDecoder {
  readonly messages: Message[] = [];
  /** State of the call that follows, from the reasoning before it. */
  private state: string | undefined;

  constructor(private readonly tools: AskedTools) {}

  add(node: JsonNode, path: string): void {
    const reader = new ObjectReader(node, path);
    const type = reader.text("type") ?? (reader.peek("role") === undefined ? "item_reference" : "message");
    switch (type) {
      case "message":
        return this.message(reader);
      case "reasoning":
        return this.reasoning(reader);
      case "function_call":
        return this.call(reader, false, reader.text("arguments") ?? "");
      case "custom_tool_call":
        return this.call(reader, true, reader.text("input") ?? "");
      case "function_call_output":
      case "custom_tool_call_output": {
        const callId = reader.requiredText("call_id");
        const value = { callId, parts: decodeContent(reader, "output"), isError: false };
        return this.join(Role.ROLE_TOOL, [partOf({ $case: "toolResult", value })]);
      }
      case "compaction": {
        const summary = readSummary(reader.text("encrypted_content") ?? "");
        if (summary === undefined) break;
        this.messages.push(messageOf(Role.ROLE_USER, [textPart(summary)]));
        return;
      }
      case "compaction_trigger":
        // It says what the whole request asks for.
        return;
      case "additional_tools":
        // They stand among the tools.
        return;
      case "item_reference":
        // What it names stands in the input itself; the pass over the body refuses any other.
        return;
      default:
    }
    const role = type.endsWith("_output") ? Role.ROLE_TOOL : Role.ROLE_ASSISTANT;
    this.join(role, [opaquePart(WIRE_NAME, node.raw())]);
  }

  private message(reader: ObjectReader): void {
    const role = ROLES.get(reader.requiredText("role"));
    if (role === undefined) throw wrongValue(reader.pathOf("role"), "it must be user, assistant, system or developer");
    const parts = decodeContent(reader, "content");
    if (role === Role.ROLE_ASSISTANT) this.join(role, parts);
    else this.messages.push(messageOf(role, parts));
  }

  private reasoning(reader: ObjectReader): void {
    const proof = decodeProof(reader.text("id") ?? "", reader.text("encrypted_content") ?? "");
    if (proof.kind === "call") {
      this.state = proof.signature;
      return;
    }
    if (proof.kind === "redacted")
      return this.join(Role.ROLE_ASSISTANT, [partOf({ $case: "redactedThinking", value: { data: proof.data } })]);
    const text = textsOf(reader, "summary") || textsOf(reader, "content");
    // A thought that OpenAI keeps has nothing to show elsewhere.
    if (text === "" && proof.signature === undefined) return;
    const value = { text, signature: proof.signature };
    this.join(Role.ROLE_ASSISTANT, [partOf({ $case: "thinking", value })]);
  }

  private call(reader: ObjectReader, custom: boolean, text: string): void {
    const name = this.tools.flat(reader.text("namespace"), reader.requiredText("name"));
    const value = { id: reader.requiredText("call_id"), name, arguments: text, custom, signature: this.state };
    this.state = undefined;
    this.join(Role.ROLE_ASSISTANT, [partOf({ $case: "toolCall", value })]);
  }

  /** Adds to the message before where the same speaks on: calls of one turn, and their results, belong together. */
  private join(role: Role, parts: readonly Part[]): void {
    const last = this.messages.at(-1);
    if (last?.role === role) last.parts.push(...parts);
    else this.messages.push(messageOf(role, [...parts]));
  }
}

/** The texts of a list, each a paragraph. */
function textsOf(reader: ObjectReader, key: "summary" | "content"): string {
  return (reader.list(key) ?? []).map((node) => node.members.get("text")?.text ?? "").join("\n\n");
}
