/** The comments of the protocol as somebody reads them who sees nothing else of it, and the spelling of its reasons. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { registry } from "../../src/api/descriptors.js";
import { REASONS, reasonWord, type ReasonName } from "../../src/base/errors.js";

const FOLDER = "proto/tollgate/v1";
const GRPC_CODES = ["INVALID_ARGUMENT", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED"];
const reasons = Object.keys(REASONS).map((name) => reasonWord(name as ReasonName));

interface Commented {
  readonly at: string;
  readonly kind: "message" | "enum" | "service" | "rpc" | "field" | "value" | "oneof";
  readonly name: string;
  readonly comment: string;
}

const KINDS: readonly (readonly [Commented["kind"], RegExp])[] = [
  ["message", /^message (\w+) \{/],
  ["enum", /^enum (\w+) \{/],
  ["service", /^service (\w+) \{/],
  ["rpc", /^rpc (\w+)\(/],
  ["oneof", /^oneof (\w+) \{/],
  ["value", /^([A-Z0-9_]+) = \d+;/],
  ["field", /^(?:optional |repeated )?[\w.<>, ]+ (\w+) = \d+(?:;| \[)/],
];

const commented: readonly Commented[] = readdirSync(FOLDER).flatMap((file) => {
  const found: Commented[] = [];
  let comment: string[] = [];
  for (const [index, text] of readFileSync(join(FOLDER, file), "utf8").split("\n").entries()) {
    const line = text.trim();
    const said = /^\/\/ ?(.*)$/.exec(line)?.[1];
    if (said !== undefined) {
      comment.push(said);
      continue;
    }
    for (const [kind, shape] of KINDS) {
      const name = shape.exec(line)?.[1];
      if (name === undefined) continue;
      found.push({ at: `${file}:${index + 1} ${name}`, kind, name, comment: comment.join(" ").trim() });
      break;
    }
    comment = [];
  }
  return found;
});

function broken(kinds: readonly Commented["kind"][], holds: (one: Commented) => boolean): string[] {
  return commented
    .filter(({ kind }) => kinds.includes(kind))
    .filter((one) => !holds(one))
    .map(({ at, comment }) => `${at}: ${comment}`);
}

describe("every comment of the protocol", () => {
  test("is found for all that the registry knows", () => {
    const files = [...registry().files].filter(({ proto }) => proto.package === "tollgate.v1");
    const fields = files.flatMap((file) => file.messages).flatMap((message) => message.fields);
    expect(commented.filter(({ kind }) => kind === "field")).toHaveLength(fields.length + 1); // And one extension.
    const methods = files.flatMap((file) => file.services).flatMap((service) => service.methods);
    expect(commented.filter(({ kind }) => kind === "rpc")).toHaveLength(methods.length);
  });

  test("of a message, an enum, a service or a method begins with its name", () => {
    const named = broken(["message", "enum", "service", "rpc"], ({ name, comment }) => comment.startsWith(`${name} `));
    expect(named).toEqual([]);
  });

  test("is whole sentences, which begin with what they are about", () => {
    const all: Commented["kind"][] = ["message", "enum", "service", "rpc", "field", "value", "oneof"];
    expect(broken(all, ({ comment }) => /^[A-Za-z`][\s\S]{9,}[.}]$/.test(comment))).toEqual([]);
    const vague = /^(?:It|Its|It's|They|Their|Them|That|This|So|Also)\b/;
    expect(broken(["field", "value", "oneof"], ({ comment }) => !vague.test(comment))).toEqual([]);
  });

  test.each([
    { ending: "_nanos", says: /nano-USD/ },
    { ending: "_picos", says: /pico-USD/ },
    { ending: "_ms", says: /milliseconds/ },
    { ending: "_seconds", says: /seconds/ },
    { ending: "_bytes", says: /bytes/ },
    { ending: "_tokens", says: /tokens/i },
    { ending: "_count", says: /number/ },
    { ending: "_time", says: /hen/ },
    { ending: "_size", says: /^Maximum .* 0 means .* Larger values count as 1,000\.$/ },
    { ending: "page_token", says: /page_token .*Empty: / },
  ])("of a field that ends in $ending says what it is measured in", ({ ending, says }) => {
    const fields = commented.filter(({ kind, name }) => kind === "field" && name.endsWith(ending));
    if (ending !== "_bytes") expect(fields.length).toBeGreaterThan(0);
    const silent = fields.filter(({ comment }) => !says.test(comment));
    expect(silent.map(({ at, comment }) => `${at}: ${comment}`)).toEqual([]);
  });

  test("of an optional field says what its absence means", () => {
    const files = [...registry().files].filter(({ proto }) => proto.package === "tollgate.v1");
    const optional = files
      .flatMap((file) => file.messages)
      .flatMap((message) => message.fields)
      .filter(({ proto }) => proto.proto3Optional)
      .map(({ name, proto }) => ({ name, number: proto.number }));
    const names = new Set(optional.map(({ name }) => name));
    const lines = commented.filter(({ kind, name }) => kind === "field" && names.has(name));
    const isOptional = ({ at }: Commented): boolean => {
      const [file = "", line = "0"] = at.split(" ")[0]?.split(":") ?? [];
      return /^\s*optional /.test(readFileSync(join(FOLDER, file), "utf8").split("\n")[Number(line) - 1] ?? "");
    };
    const silent = lines.filter((one) => isOptional(one) && !/\bAbsent\b/.test(one.comment));
    expect(silent.map(({ at, comment }) => `${at}: ${comment}`)).toEqual([]);
  });

  test("of a method that may refuse names reasons that there are", () => {
    const files = [...registry().files].filter(({ proto }) => proto.package === "tollgate.v1");
    const values = files.flatMap((file) => file.enums).flatMap((one) => one.proto.value.map(({ name }) => name));
    const known = new Set([...reasons, ...GRPC_CODES, ...values, "ERROR_REASON_", "MODE_AUTO", "MODE_REQUIRED"]);
    const words = commented.flatMap(({ at, comment }) =>
      (comment.match(/\b[A-Z]{2,}(?:_[A-Z]+)+\b_?/g) ?? []).map((word) => ({ at, word })),
    );
    expect(words.length).toBeGreaterThan(100);
    expect(words.filter(({ word }) => !known.has(word))).toEqual([]);
  });
});

describe("a list", () => {
  const rpcs = [...registry().files]
    .filter(({ proto }) => proto.package === "tollgate.v1")
    .flatMap((file) => file.services)
    .flatMap((service) => service.methods);

  test("of any method is asked for and answered in pages, in the standard words", () => {
    const lists = rpcs.filter(({ name }) => name.startsWith("List"));
    expect(lists.length).toBeGreaterThan(5);
    const asked = rpcs.filter(({ input }) => input.fields.some(({ name }) => /page|cursor|limit|offset/.test(name)));
    expect(lists.filter((method) => !asked.includes(method))).toEqual([]);
    for (const { input, output } of asked) {
      const words = (names: readonly { name: string }[]): string[] =>
        names.map(({ name }) => name).filter((name) => /page|cursor|limit|offset|total_size|unreachable/.test(name));
      expect(words(input.fields), input.name).toEqual(["page_size", "page_token"]);
      expect(words(output.fields), output.name).toEqual(["next_page_token"]);
    }
  });

  test("holds what the method is named after", () => {
    for (const { name, output } of rpcs.filter((method) => method.name.startsWith("List"))) {
      const [first] = output.fields;
      expect(first?.fieldKind, name).toBe("list");
      const words = (first?.name ?? "").split("_").map((word) => `${word[0]?.toUpperCase()}${word.slice(1)}`);
      expect(`List${words.join("")}`).toBe(name);
    }
  });
});

describe("a reason has one spelling in what people read:", () => {
  const texts = (folder: string, kinds: RegExp): string[] =>
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((path) => kinds.test(path))
      .map((path) => join(folder, path));
  const files = ["README.md", ...texts("docs", /\.md$/), ...texts("examples", /\.\w+$/), ...texts("src/cli", /\.ts$/)];
  // One word alone, such as internal, is a word of the language.
  const spellings = reasons
    .filter((reason) => reason.includes("_"))
    .flatMap((reason) => {
      const lower = reason.toLowerCase();
      const camel = lower.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
      return [lower, lower.replaceAll("_", "-"), camel, camel[0]?.toUpperCase() + camel.slice(1)];
    });
  const other = new RegExp(`(?:\\b(?:${spellings.join("|")})\\b|ERROR_REASON_[A-Z]+)`);

  // The table of errors also tells the `code` of OpenAI's envelope, which many reasons have in small letters.
  const withoutCode = (line: string): string => line.replace(/^(\| `[A-Z_]+` \| \d+ \| [A-Z_]+ \|) `\w+` \|/, "$1 |");

  test.each(files)("%s", (file) => {
    const lines = readFileSync(file, "utf8").split("\n");
    // In code the long name is that of the generated enum, which no person is shown.
    const isCode = file.startsWith("src/");
    const shown = lines.map((line) => (isCode ? line.replaceAll(/"ERROR_REASON_[A-Z_]+"/g, "") : withoutCode(line)));
    const wrong = shown.filter((line) => other.test(line));
    expect(wrong).toEqual([]);
  });
});
