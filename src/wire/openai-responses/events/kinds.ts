/** What the events of a stream are, the items in it, and the parts of a message and of a thought. */
import { type KindTable, kindTable } from "../../events/kinds.js";

/** What is content stands in `delta`. */
const RESPONSE_KINDS = kindTable(
  {
    text: `
    output_text.delta refusal.delta reasoning_text.delta reasoning_summary_text.delta
    function_call_arguments.delta custom_tool_call_input.delta mcp_call_arguments.delta
    code_interpreter_call_code.delta apply_patch_call_operation_diff.delta shell_call_command.delta
    audio.transcript.delta output_audio_transcript.delta`,
    sound: "audio.delta output_audio.delta",
    picture: "image_generation_call.partial_image",
    other: "output_text.annotation.added",
    repeats: `
    output_item.added output_item.done content_part.added content_part.done reasoning_summary_part.added
    reasoning_summary_part.done output_text.done refusal.done reasoning_text.done
    reasoning_summary_text.done function_call_arguments.done custom_tool_call_input.done
    mcp_call_arguments.done code_interpreter_call_code.done apply_patch_call_operation_diff.done
    shell_call_command.added shell_call_command.done audio.transcript.done output_audio_transcript.done`,
    envelope: `
    created queued in_progress completed incomplete failed audio.done output_audio.done
    web_search_call.in_progress web_search_call.searching web_search_call.completed
    file_search_call.in_progress file_search_call.searching file_search_call.completed
    code_interpreter_call.in_progress code_interpreter_call.interpreting code_interpreter_call.completed
    image_generation_call.in_progress image_generation_call.generating image_generation_call.completed
    mcp_call.in_progress mcp_call.completed mcp_call.failed mcp_list_tools.in_progress
    mcp_list_tools.completed mcp_list_tools.failed shell_call_output_content.delta
    shell_call_output_content.done`,
  },
  "response.",
);

export const EVENT_KINDS: KindTable = new Map([...RESPONSE_KINDS, ...kindTable({ envelope: "error keepalive" })]);

/** The member in which an event repeats what came before it. */
export const REPEATING_MEMBERS = [
  "text",
  "refusal",
  "arguments",
  "input",
  "code",
  "diff",
  "command",
  "transcript",
] as const;

export const ITEM_KINDS = kindTable({
  text: "message reasoning function_call custom_tool_call",
  picture: "image_generation_call",
  // Calls of tools whose input the model writes, and what stands for a conversation.
  other: `
    web_search_call file_search_call code_interpreter_call computer_call local_shell_call shell_call
    apply_patch_call mcp_call mcp_approval_request tool_search_call program compaction
    compaction_summary`,
  // What tools gave back, and what a client sent.
  envelope: `
    function_call_output custom_tool_call_output computer_call_output local_shell_call_output
    shell_call_output apply_patch_call_output tool_search_output program_output mcp_list_tools
    mcp_approval_response additional_tools configuration_update item_reference compaction_trigger`,
});

/** True of an item that is content as it begins: the call of a tool, or what only the wire knows. */
export function beginsAsContent(type: string): boolean {
  const kind = ITEM_KINDS.get(type);
  return kind === "other" || kind === "picture";
}

export const PART_KINDS = kindTable({
  text: "output_text text refusal reasoning_text summary_text",
  sound: "output_audio",
});
