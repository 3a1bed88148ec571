/** What a client says of a request never becomes what says who it is. */
import { expect, test } from "vitest";
import { SESSION_HEADER } from "../../src/api/session-headers.js";
import { addRecordHeaders } from "../../src/http/record-headers.js";

test.each(["session_id", "x-tollgate-conversation", SESSION_HEADER])(
  "the header %s names no person's session",
  (name) => {
    const metadata: Record<string, string> = {};
    addRecordHeaders({ [name]: "s-1" }, metadata);
    expect(metadata[SESSION_HEADER]).toBeUndefined();
  },
);
