/** What an upstream keeps is refused in the typed form as it is in a body of that upstream's wire. */
import { expect, test } from "vitest";
import { type Part, Role } from "../../src/api/index.js";
import { GatewayError } from "../../src/base/errors.js";
import { typedRequest } from "../../src/gateway/typed-request.js";
import { clientWires } from "../../src/reading/readers.js";
import { promptOf } from "../../src/wire/request/prompt.js";
import { ENDPOINTS, leaving } from "./asked.js";

/** What leaves for a family's upstream, or the reason why nothing does. */
function sent(family: string, kind: Part["kind"], role: Role): unknown {
  const found = ENDPOINTS.find((one) => one.family.name === family);
  if (found === undefined) throw new Error(`no family is called ${family}`);
  const message = { role, parts: [{ kind, cacheMark: undefined }], name: undefined, extraJson: undefined };
  const prompt = promptOf({ messages: [message] }, "openai-chat", undefined);
  const generation = { model: "m", input: { $case: "prompt" as const, value: prompt } };
  const asked = { ...generation, outputTokensMax: undefined, clamp: undefined };
  try {
    const request = typedRequest(asked, prompt, false, clientWires);
    return leaving(request, found.family, found.endpoint).toString();
  } catch (error) {
    if (error instanceof GatewayError) return error.reason;
    throw error;
  }
}

const UPLOADED = "https://generativelanguage.googleapis.com/v1beta/files/of-another-tenant";
const BUCKET = "gs://operators/secret.pdf";
const file = (value: string): Part["kind"] => ({
  $case: "file",
  value: { source: { $case: "url", value }, filename: undefined },
});
const picture = (value: string): Part["kind"] => ({
  $case: "image",
  value: { source: { $case: "url", value }, detail: undefined },
});
const opaque = (wire: string, json: object): Part["kind"] => ({
  $case: "opaque",
  value: { wire, json: JSON.stringify(json) },
});
const s3 = { document: { format: "pdf", name: "d", source: { s3Location: { uri: "s3://operators/secret.pdf" } } } };

test.each<{ name: string; family: string; part: Part["kind"]; role?: Role }>([
  {
    name: "a sound that OpenAI keeps",
    family: "openai",
    part: { $case: "audio", value: { source: { $case: "fileId", value: "audio_other" }, transcript: undefined } },
    role: Role.ROLE_ASSISTANT,
  },
  { name: "a file that was uploaded to Google", family: "gemini", part: file(UPLOADED) },
  { name: "a file in a bucket", family: "vertex", part: file(BUCKET) },
  { name: "a picture that was uploaded to Google", family: "gemini", part: picture(UPLOADED) },
  { name: "a picture in a bucket", family: "vertex", part: picture(BUCKET) },
  {
    name: "Google's own part with an uploaded file",
    family: "gemini",
    part: opaque("gemini", { fileData: { fileUri: UPLOADED, mimeType: "application/pdf" } }),
  },
  { name: "Amazon's own part with a bucket", family: "bedrock", part: opaque("bedrock-converse", s3) },
])("$name is refused", ({ family, part, role = Role.ROLE_USER }) => {
  expect(sent(family, part, role)).toMatch(/^ERROR_REASON_PARAMETER_/);
});

test.each([30, 6_000])("results in results, %i deep, and such JSON, are refused in one line", (depth) => {
  let part: Part = { kind: { $case: "text", value: { text: "x", citationsJson: undefined } }, cacheMark: undefined };
  for (let level = 0; level < depth; level += 1) {
    const value = { callId: "c", parts: [part], isError: false, custom: false };
    part = { kind: { $case: "toolResult", value }, cacheMark: undefined };
  }
  expect(sent("openai", part.kind, Role.ROLE_TOOL)).toBe("ERROR_REASON_PARAMETER_INVALID");
  const json = `{"a":${"[".repeat(depth * 3)}${"]".repeat(depth * 3)}}`;
  const kind = { $case: "opaque" as const, value: { wire: "openai-chat", json } };
  expect(sent("openai", kind, Role.ROLE_USER)).toBe("ERROR_REASON_PARAMETER_INVALID");
});
