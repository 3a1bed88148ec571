/** What the events of a stream, the blocks in it, and the deltas of a block are. */
import { kindTable } from "../../events/kinds.js";

export const EVENT_KINDS = kindTable({
  holds: "message_start content_block_start content_block_delta",
  envelope: "content_block_stop message_delta message_stop ping error",
});

export const DELTA_KINDS = kindTable({
  text: "text_delta thinking_delta input_json_delta",
  // The proof of a thought is the thought where nothing of it is shown.
  other: "signature_delta citations_delta compaction_delta",
});

export const BLOCK_KINDS = kindTable({
  text: "text thinking tool_use",
  other: "redacted_thinking server_tool_use mcp_tool_use compaction container_upload fallback",
  // What tools of the upstream's gave back.
  envelope: `
    web_search_tool_result web_fetch_tool_result code_execution_tool_result mcp_tool_result
    bash_code_execution_tool_result text_editor_code_execution_tool_result tool_search_tool_result
    advisor_tool_result tool_result mcp_tool_listing`,
});
