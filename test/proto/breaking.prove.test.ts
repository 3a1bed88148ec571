/** The protocol against the baseline of its release: what would break a client's stubs fails the check. */
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ScalarType } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { registry } from "../../src/api/descriptors.js";

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "tollgate-breaking-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function run(file: string, ...args: readonly string[]): { readonly status: number | null; readonly told: string } {
  const { status, stdout, stderr } = spawnSync(file, args, { encoding: "utf8" });
  return { status, told: stdout + stderr };
}

/** The check on a copy of the protocol that `edit` changes in one file. */
function checkOf(name: string, file: string, edit: (text: string) => string): ReturnType<typeof run> {
  const copy = join(folder, name);
  cpSync("proto", join(copy, "proto"), { recursive: true });
  cpSync("buf.yaml", join(copy, "buf.yaml"));
  const path = join(copy, "proto", "tollgate", file);
  const text = readFileSync(path, "utf8");
  expect(edit(text)).not.toBe(text);
  writeFileSync(path, edit(text));
  return run(process.execPath, ".ci/check-breaking.mjs", copy);
}

test("what is committed breaks no client of the baseline, and the check says that it ran", () => {
  const { status, told } = run(process.execPath, ".ci/check-breaking.mjs");
  expect(told).toContain("clients of the baseline are not broken");
  expect(told).not.toContain("NOT RUN");
  expect(status).toBe(0);
});

describe("the check fails where", () => {
  test.each([
    {
      name: "a field has another number",
      edit: (text: string) => text.replace("string account_id = 2;", "string account_id = 99;"),
      says: "account_id",
    },
    {
      name: "a field has another type",
      edit: (text: string) => text.replace("string maker_id = 7;", "int64 maker_id = 7;"),
      says: "maker_id",
    },
    {
      name: "a field has another name",
      edit: (text: string) => text.replace("string hint = 4;", "string clue = 4;"),
      says: "clue",
    },
    {
      name: "a method is gone",
      edit: (text: string) => text.replace(/ {2}rpc RevokeKey[\s\S]*?\n {2}\}\n/, ""),
      says: "RevokeKey",
    },
  ])("$name", ({ name, edit, says }) => {
    const { status, told } = checkOf(name.replaceAll(" ", "-"), "v1/key_service.proto", edit);
    expect(told).toContain(says);
    expect(told).toContain("clients of the last release would break");
    expect(status).toBe(1);
  });
});

test("a new field, and any change between a front end and its core, break nobody", () => {
  const field = "string hint = 4;";
  const more = checkOf("more", "v1/key_service.proto", (text) =>
    text.replace(field, `${field}\n  // Another.\n  string another = 90;`),
  );
  expect(more).toMatchObject({ status: 0 });
  const inner = checkOf("inner", "internal/v1/tunnel_service.proto", (text) =>
    text.replace("uint32 call_id = 1;", "uint64 call_id = 1;"),
  );
  expect(inner).toMatchObject({ status: 0 });
});

describe("buf lint", () => {
  const read = (path: string): string => readFileSync(path, "utf8");

  test("is asked for STANDARD and COMMENTS, and leaves out nothing of ours", () => {
    const settings = read("buf.yaml");
    expect(settings).toContain("use: [STANDARD, COMMENTS]");
    expect(settings).not.toContain("except");
    const lint = settings.slice(settings.indexOf("lint:"), settings.indexOf("breaking:"));
    expect(/ignore: \[([^\]]*)\]/.exec(lint)?.[1]?.split(", ")).toEqual(["proto/google", "proto/grpc"]);
    expect(run("grep", "-rl", "buf:lint:ignore", "proto").told).toBe("");
  });

  test("finds nothing", () => {
    expect(run("node_modules/.bin/buf", "lint")).toEqual({ status: 0, told: "" });
  });
});

test("no field is called as the getter of another field in Java, where a string also has one of its bytes", () => {
  const messages = [...registry().files]
    .flatMap((file) => file.messages)
    .filter(({ file }) => file.name.startsWith("tollgate/"));
  const clashes = messages.flatMap(({ typeName, fields }) => {
    const strings = fields.filter((field) => field.scalar === ScalarType.STRING);
    const getters = new Set(strings.map(({ name }) => `${name}_bytes`));
    return fields.filter(({ name }) => getters.has(name)).map(({ name }) => `${typeName}.${name}`);
  });
  expect(clashes).toEqual([]);
});

test("every file of ours names its packages for Go, Java and C#", () => {
  const files = run("find", "proto/tollgate", "-name", "*.proto").told.trim().split("\n");
  const lacking = files.flatMap((file) => {
    const text = readFileSync(file, "utf8");
    return ["csharp_namespace", "go_package", "java_multiple_files", "java_package"]
      .filter((option) => !text.includes(`option ${option} = `))
      .map((option) => `${file} has no ${option}`);
  });
  expect(lacking).toEqual([]);
});
