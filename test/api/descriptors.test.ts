/** The descriptor set and the generated services must be the same protocol. */
import { expect, test } from "vitest";
import { descriptorSetBytes, methodByPath, methods, registry } from "../../src/api/descriptors.js";
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
