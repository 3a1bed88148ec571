/** What each role sees and changes, as a table that is written by hand. */
import { expect, test } from "vitest";
import { SCOPES } from "../../src/keys/caller.js";
import { type Role, roleMay } from "../../src/keys/roles.js";

const ALL = [...SCOPES, "members", "nothing"];

test.each<{ role: Role; sees: string; changes: string }>([
  { role: "none", sees: "", changes: "" },
  { role: "viewer", sees: "models usage keys", changes: "" },
  { role: "member", sees: "chat embeddings models usage keys members", changes: "chat embeddings keys" },
  {
    role: "admin",
    sees: "chat embeddings models usage keys audit alerts members",
    changes: "chat embeddings usage keys alerts members",
  },
  {
    role: "owner",
    sees: "chat embeddings models usage keys audit alerts members",
    changes: "chat embeddings usage keys alerts members",
  },
  { role: "auditor", sees: "chat embeddings models usage keys audit alerts operator members", changes: "" },
  {
    role: "operator",
    sees: "chat embeddings models usage keys audit alerts operator members",
    changes: "chat embeddings models usage keys audit alerts operator members",
  },
])("$role sees and changes what the table says", ({ role, sees, changes }) => {
  const granted = (reads: boolean): string => ALL.filter((scope) => roleMay(role, scope, reads)).join(" ");
  expect([granted(true), granted(false)]).toEqual([sees, changes]);
});
