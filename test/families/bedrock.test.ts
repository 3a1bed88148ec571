/** Who the gateway is at Amazon's, and where: from the settings, else from the environment; quoted nowhere. */
import { describe, expect, test } from "vitest";
import { readRegion, readSigner } from "../../src/families/bedrock/credential.js";
import { bedrock } from "../../src/families/bedrock/index.js";
import { fixedSigner } from "../../src/families/bedrock/identity.js";
import { createSigningProver } from "../../src/families/bedrock/signature.js";

describe("a signer", () => {
  test.each([
    { name: "of the settings", key: "id:secret", env: {}, want: { accessKeyId: "id", secretAccessKey: "secret" } },
    {
      name: "for a while",
      key: "id:secret:token",
      env: {},
      want: { accessKeyId: "id", secretAccessKey: "secret", sessionToken: "token" },
    },
    {
      name: "of the environment",
      key: undefined,
      env: { AWS_ACCESS_KEY_ID: "id", AWS_SECRET_ACCESS_KEY: "secret", AWS_SESSION_TOKEN: "" },
      want: { accessKeyId: "id", secretAccessKey: "secret" },
    },
  ])("$name is read", ({ key, env, want }) => {
    expect(readSigner(key, env)).toEqual(want);
  });

  test.each(["hush:", ":hush", "hush:a:b:c", ":"])("%s is refused, and quoted nowhere", (key) => {
    const read = (): unknown => readSigner(key, {});
    expect(read).toThrow(/api_key/);
    expect(read).not.toThrow(/hush/);
  });

  test.each([
    { name: "half a pair", env: { AWS_ACCESS_KEY_ID: "id" } },
    { name: "a profile", env: { AWS_ACCESS_KEY_ID: "id", AWS_SECRET_ACCESS_KEY: "s", AWS_PROFILE: "prod" } },
  ])("is left to the machine's identity where the environment has $name", ({ env }) => {
    expect(readSigner(undefined, env)).toBeUndefined();
  });
});

describe("a region", () => {
  test.each([
    { url: "https://bedrock-runtime.eu-west-1.amazonaws.com", env: { AWS_REGION: "us-east-1" }, want: "eu-west-1" },
    { url: "https://bedrock-runtime-fips.us-gov-west-1.amazonaws.com", env: {}, want: "us-gov-west-1" },
    { url: "https://vpce-1.bedrock-runtime.us-east-1.vpce.amazonaws.com", env: {}, want: "us-east-1" },
    { url: "http://127.0.0.1:80", env: { AWS_REGION: "eu-north-1" }, want: "eu-north-1" },
    { url: "http://127.0.0.1:80", env: { AWS_REGION: "", AWS_DEFAULT_REGION: "eu-north-2" }, want: "eu-north-2" },
  ])("of $url is $want", ({ url, env, want }) => {
    expect(readRegion(url, env)).toBe(want);
  });

  test("must be named", () => {
    expect(() => readRegion("http://127.0.0.1", {})).toThrow(/AWS_REGION/);
    expect(bedrock.baseUrlIn?.({})).toBeUndefined();
    expect(bedrock.baseUrlIn?.({ AWS_REGION: "eu-west-1" })).toBe("https://bedrock-runtime.eu-west-1.amazonaws.com");
  });
});

const REQUEST = { method: "POST" as const, path: "/model/a%3A0/converse", headers: {}, body: Buffer.from("{}") };

test("a signature holds for one body, one path and one time", async () => {
  const source = fixedSigner({ accessKeyId: "id", secretAccessKey: "s" });
  const sign = (nowMs: number) => createSigningProver(source, "r", "https://a.example", () => nowMs).sign;
  const first = await sign(0)(REQUEST);
  expect(await sign(0)(REQUEST)).toEqual(first);
  expect(Object.keys(first).toSorted()).toEqual(["authorization", "x-amz-content-sha256", "x-amz-date"]);
  for (const other of [
    sign(0)({ ...REQUEST, body: Buffer.from("{ }") }),
    sign(0)({ ...REQUEST, path: "/model/b/converse" }),
    sign(86_400_000)(REQUEST),
  ])
    expect((await other)["authorization"]).not.toBe(first["authorization"]);
});

test("a clock that is wrong is corrected once by the time of the refusal", async () => {
  const source = fixedSigner({ accessKeyId: "id", secretAccessKey: "s" });
  const prover = createSigningProver(source, "r", "https://a.example", () => 0);
  const refusal = (minutes: number) => ({
    status: 403,
    headers: {
      "x-amzn-errortype": "InvalidSignatureException:http://internal.amazon.com/",
      date: new Date(minutes * 60_000).toUTCString(),
    },
  });
  const first = await prover.sign(REQUEST);
  expect(prover.renew(refusal(1), first)).toBeUndefined();
  await expect(prover.renew(refusal(60), first)).resolves.toBe(true);
  const second = await prover.sign(REQUEST);
  expect(second["x-amz-date"]).toBe("19700101T010000Z");
  expect(prover.renew(refusal(60), second)).toBeUndefined();
});
