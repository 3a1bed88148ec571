/** The machine's identity at Amazon's, from each source of the chain, with the real shapes of its answers. */
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { machineSigner } from "../../src/families/bedrock/identity.js";
import { type FakeAws, startFakeAws } from "../support/fake-aws.js";

let fake: FakeAws;
let directory = "";
let lateMs = 0;

const signer = () => machineSigner({ nowMs: Date.now, monotonicMs: () => Date.now() + lateMs });
const write = (name: string, text: string): string => {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
};

beforeAll(async () => {
  fake = await startFakeAws();
});
afterAll(() => fake.close());
beforeEach(() => {
  for (const name of Object.keys(process.env)) if (name.startsWith("AWS_")) vi.stubEnv(name, undefined);
  directory = mkdtempSync(join(tmpdir(), "tollgate-aws-"));
  vi.stubEnv("AWS_REGION", "us-east-1");
  vi.stubEnv("AWS_CONFIG_FILE", write("config", ""));
  vi.stubEnv("AWS_SHARED_CREDENTIALS_FILE", write("credentials", ""));
  vi.stubEnv("AWS_EC2_METADATA_SERVICE_ENDPOINT", fake.url);
  vi.stubEnv("AWS_ENDPOINT_URL_STS", fake.url);
  Object.assign(fake, { fails: false, lifeMs: 3_600_000 });
  fake.asked.length = 0;
  fake.forms.length = 0;
  lateMs = 0;
});
afterEach(() => vi.unstubAllEnvs());

test("comes from the instance by IMDSv2", async () => {
  expect(await signer().value()).toMatchObject({ secretAccessKey: "secret", sessionToken: "session" });
  expect(fake.asked).toContain("PUT /latest/api/token");
});

test("comes from the container's endpoint, whose token file is read again for each credential", async () => {
  vi.stubEnv("AWS_CONTAINER_CREDENTIALS_FULL_URI", `${fake.url}/pod`);
  vi.stubEnv("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", write("token", "one"));
  const source = signer();
  const first = await source.value();
  expect(fake.containerToken).toBe("one");
  write("token", "two");
  lateMs = 3_400_000;
  expect(source.value()).toBe(first);
  await expect.poll(() => source.value()).not.toBe(first);
  expect(fake.containerToken).toBe("two");
});

test("comes from a token of the cluster (IRSA)", async () => {
  vi.stubEnv("AWS_WEB_IDENTITY_TOKEN_FILE", write("token", "jwt-of-the-pod"));
  vi.stubEnv("AWS_ROLE_ARN", "arn:aws:iam::1:role/gateway");
  expect(await signer().value()).toMatchObject({ secretAccessKey: "secret", sessionToken: "session" });
  expect(fake.asked).toEqual(["AssumeRoleWithWebIdentity"]);
  expect(fake.forms[0]?.get("WebIdentityToken")).toBe("jwt-of-the-pod");
});

test("comes from a profile that assumes a role with an external id", async () => {
  vi.stubEnv("AWS_PROFILE", "prod");
  const role = "role_arn = arn:aws:iam::2:role/models\nexternal_id = x-1\nsource_profile = base";
  const config = `[profile prod]\n${role}\nregion = us-east-1\n`;
  vi.stubEnv("AWS_CONFIG_FILE", write("config", config));
  const keys = "[base]\naws_access_key_id = id\naws_secret_access_key = hush\n";
  vi.stubEnv("AWS_SHARED_CREDENTIALS_FILE", write("credentials", keys));
  expect(await signer().value()).toMatchObject({ sessionToken: "session" });
  expect(fake.asked).toEqual(["AssumeRole"]);
  expect(fake.forms[0]?.get("ExternalId")).toBe("x-1");
  expect(fake.forms[0]?.get("RoleArn")).toBe("arn:aws:iam::2:role/models");
});

test("that fails is named without its answer, and works again once its source does", async () => {
  vi.stubEnv("AWS_WEB_IDENTITY_TOKEN_FILE", join(directory, "not-there"));
  vi.stubEnv("AWS_ROLE_ARN", "arn:aws:iam::1:role/gateway");
  const source = signer();
  await expect(async () => source.value()).rejects.toThrow(/^Amazon Web Services issued no credential: \w+$/);
  write("not-there", "jwt");
  expect(await source.value()).toMatchObject({ sessionToken: "session" });
});

test("that Amazon refuses is replaced at once", async () => {
  vi.stubEnv("AWS_CONTAINER_CREDENTIALS_FULL_URI", `${fake.url}/pod`);
  const source = signer();
  const first = await source.value();
  expect(await source.replace(first)).toBe(true);
  expect(source.value()).not.toBe(first);
});
