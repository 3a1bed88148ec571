/** What a client says of a request never becomes what says who it is. */
import { describe, expect, test } from "vitest";
import { CONVERSATION_HEADER, CONVERSATION_HEADERS } from "../../src/api/request-headers.js";
import { SESSION_HEADER } from "../../src/api/session-headers.js";
import { addRecordHeaders } from "../../src/http/record-request-headers.js";

const ALL = [CONVERSATION_HEADER, ...CONVERSATION_HEADERS];

function read(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const metadata: Record<string, string> = {};
  addRecordHeaders(headers, metadata);
  return metadata;
}

test.each([...ALL, SESSION_HEADER])("the header %s names no person's session", (name) => {
  expect(read({ [name]: "s-1" })[SESSION_HEADER]).toBeUndefined();
});

describe("the session of a request", () => {
  test.each(ALL)("is in %s, where no header before it has one", (name) => {
    expect(read({ [name]: "s-1" })).toEqual({ [CONVERSATION_HEADER]: "s-1" });
    for (const other of ALL) {
      const first = ALL.indexOf(other) < ALL.indexOf(name) ? "other" : "s-1";
      if (other !== name) expect(read({ [name]: "s-1", [other]: "other" })[CONVERSATION_HEADER], other).toBe(first);
    }
  });

  test.each(["", " ", "a\tb", "a\u0000b", "a\u00adb", "Gespr\u00e4ch", "s".repeat(257)])(
    "is not %j, and a header behind it is read",
    (value) => {
      for (const name of ALL) expect(read({ [name]: value }), name).toEqual({});
      expect(read({ [CONVERSATION_HEADER]: value, "session-id": "s-1" })).toEqual({ [CONVERSATION_HEADER]: "s-1" });
    },
  );
});
