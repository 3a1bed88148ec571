/** What each role sees and changes, as a table that is written by hand. */
import { expect, test } from "vitest";
import { SCOPES } from "../../src/keys/caller.js";
import { type Role, roleMay, scopesWithin } from "../../src/keys/roles.js";

const ALL = [...SCOPES, "members", "nothing"];

test.each<{ role: Role; sees: string; changes: string; keys: string }>([
  { role: "none", sees: "", changes: "", keys: "" },
  { role: "viewer", sees: "models usage keys", changes: "", keys: "models usage" },
  {
    role: "member",
    sees: "chat embeddings rerank moderations audio models usage keys members",
    changes: "chat embeddings rerank moderations audio keys",
    keys: "chat embeddings rerank moderations audio models usage",
  },
  {
    role: "admin",
    sees: "chat embeddings rerank moderations audio models usage keys audit alerts members",
    changes: "chat embeddings rerank moderations audio usage keys alerts members",
    keys: "chat embeddings rerank moderations audio models usage keys",
  },
  {
    role: "owner",
    sees: "chat embeddings rerank moderations audio models usage keys audit alerts members",
    changes: "chat embeddings rerank moderations audio usage keys alerts members",
    keys: "chat embeddings rerank moderations audio models usage keys",
  },
  {
    role: "auditor",
    sees: "chat embeddings rerank moderations audio models usage keys audit alerts operator members",
    changes: "",
    keys: "models usage",
  },
  {
    role: "operator",
    sees: "chat embeddings rerank moderations audio models usage keys audit alerts operator members",
    changes: "chat embeddings rerank moderations audio models usage keys audit alerts operator members",
    keys: "chat embeddings rerank moderations audio models usage keys audit alerts operator",
  },
])("$role sees, changes and gives to keys what the table says", ({ role, sees, changes, keys }) => {
  const granted = (reads: boolean): string => ALL.filter((scope) => roleMay(role, scope, reads)).join(" ");
  expect([granted(true), granted(false)]).toEqual([sees, changes]);
  expect(scopesWithin(role, ALL).join(" ")).toBe(keys);
});
