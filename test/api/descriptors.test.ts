/** The descriptor set, what is written down of it, and the generated services must be the same protocol. */
import {
  type DescExtension,
  type DescField,
  type DescMessage,
  type DescMethod,
  getOption,
  hasOption,
  ScalarType,
} from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { descriptorSetBytes, enumWord, methodByPath, methods, registry } from "../../src/api/descriptors.js";
import { holdsMoney } from "../../src/api/money-fields.js";
import { serviceMethod, serviceMethods } from "../../src/api/methods.js";

test("every described method has a generated one, and the other way round", () => {
  expect(
    methods()
      .map((method) => method.path)
      .toSorted(),
  ).toEqual(
    serviceMethods()
      .map((method) => method.path)
      .toSorted(),
  );
});

test("every method says who may call it", () => {
  expect(methods().filter((method) => method.permission === undefined)).toEqual([]);
});

/** Two may write it, so each says what it read. */
test("whatever is changed by a mask is changed by its etag too, and is shown with one", () => {
  const masked = methods().filter(({ desc }) => fieldOf(desc.input, "update_mask") !== undefined);
  expect(masked.length).toBeGreaterThan(4);
  for (const { path, desc } of masked) {
    expect(fieldOf(desc.input, "etag")?.scalar, path).toBe(ScalarType.STRING);
    const shown = [desc.output, ...desc.output.fields.map(({ message }) => message)];
    expect(
      shown.some((message) => message && fieldOf(message, "etag")),
      path,
    ).toBe(true);
  }
});

function fieldOf({ fields }: DescMessage, name: string): DescField | undefined {
  return fields.find((field) => field.name === name);
}

test("the options of a method are read", () => {
  const credit = methodByPath("/tollgate.v1.AccountService/CreditAccount");
  expect(credit.http).toEqual({ verb: "POST", pattern: "/api/v1/accounts/{id}:credit", body: "*" });
  expect(credit.permission).toEqual({
    scope: "",
    operator: true,
    fresh: false,
    open: false,
    user: false,
    reads: false,
  });
  expect(methodByPath("/tollgate.v1.InferenceService/Generate").http).toBeUndefined();
  expect(serviceMethod("/tollgate.v1.InferenceService/StreamGenerate")?.responseStream).toBe(true);
});

test("an unknown path is said by name", () => {
  expect(() => methodByPath("/tollgate.v1.KeyService/Nothing")).toThrow("/tollgate.v1.KeyService/Nothing");
  expect(serviceMethod("/tollgate.v1.KeyService/Nothing")).toBeUndefined();
});

test("the bytes and the files are read once", () => {
  expect(descriptorSetBytes()).toBe(descriptorSetBytes());
  expect(registry()).toBe(registry());
});

function optionOf(desc: DescMethod, name: string): unknown {
  const option: DescExtension | undefined = registry().getExtension(name);
  if (option === undefined) throw new Error(`the descriptor set lacks ${name}`);
  return hasOption(desc, option) ? getOption(desc, option) : undefined;
}

test("what is written down of each method is what its descriptor says", () => {
  const described = [...registry().files]
    .filter(({ proto }) => ["tollgate.v1", "tollgate.internal.v1"].includes(proto.package))
    .flatMap(({ services }) => services.flatMap((service) => service.methods));
  expect(methods().map(({ path }) => path)).toHaveLength(described.length);
  for (const desc of described) {
    const { http, permission, ...written } = methodByPath(`/${desc.parent.typeName}/${desc.name}`);
    expect(written).toMatchObject({ readsMoney: holdsMoney(desc.input), writesMoney: holdsMoney(desc.output) });
    expect(written.desc).toBe(desc);
    const rule = http && { pattern: { case: http.verb.toLowerCase(), value: http.pattern }, body: http.body };
    if (rule === undefined) expect(optionOf(desc, "google.api.http")).toBeUndefined();
    else expect(optionOf(desc, "google.api.http")).toMatchObject(rule);
    const isFront = optionOf(desc, "tollgate.internal.v1.front_only") !== undefined;
    expect(permission?.front ?? false).toBe(isFront);
    const { reads, front: _, ...needs } = { reads: false, ...permission };
    if (!isFront) expect(optionOf(desc, "tollgate.v1.permission")).toMatchObject(needs);
    expect(reads).toBe(http?.verb === "GET");
  }
});

test("the words of enums are those of their values, but a reason's in capitals", () => {
  expect(enumWord("tollgate.v1.EntryKind", 1)).toBe("hold");
  expect(enumWord("tollgate.v1.ErrorReason", 0)).toBe("UNSPECIFIED");
  expect(enumWord("tollgate.v1.EntryKind", 999)).toBe("");
  const enums = [...registry()].filter((one) => one.kind === "enum" && one.file.proto.package === "tollgate.v1");
  expect(enums.length).toBeGreaterThan(20);
  for (const one of enums)
    for (const { name } of one.kind === "enum" ? one.values : []) expect(name).toMatch(/^(?:[a-z0-9_]+|[A-Z0-9_]+)$/);
});
