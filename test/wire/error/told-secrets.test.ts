/** Whatever an upstream writes into an error, a client reads no credential, host, address or path of it. */
import { expect, test } from "vitest";
import { families } from "../../../src/families/index.js";
import { GatewayError } from "../../../src/base/errors.js";
import type { UpstreamWire } from "../../../src/wire/wire.js";

const SECRET = "A1b2C3d4E5f6G7h8";
/** Each has the mark in what must not be read, and is found by one rule alone. */
const TOLD: Readonly<Record<string, string>> = {
  "a key": `Incorrect API key: sk-${SECRET}`,
  "a token in a header": `sent 'authorization: Bearer ${SECRET}'`,
  "an address": `see grpc://${SECRET}`,
  "an organisation": `quota of org-${SECRET} is used up`,
  "a project": `no project proj_${SECRET}`,
  "an IPv4 address": "dial 203.0.113.77 failed",
  "an IPv4 address with a port": "dial 203.0.113.77:8443 failed",
  "an IPv6 address": "dial [2001:db8::203:113:77]:80 failed",
  "the machine itself": "cannot reach localhost, it is away",
  "a host with a port": "vllm-a1b2c3d4:8000 refused",
  "a host of the world": "a1b2c3d4.models.example.com is away",
  "a host of a cluster": "a1b2c3d4.svc is away",
  "a resource of Amazon": `arn:aws:bedrock:eu-west-1:${SECRET}:model is unknown`,
  "a path of a file": "cannot open /srv/a1b2c3d4/weights",
  "a path of Windows": "C:\\a1b2c3d4\\weights is missing",
};
const MARKS = /A1b2C3d4|a1b2c3d4|203\.0\.113|2001:db8|localhost/i;

/** Every shape of an error that an upstream of some wire sends, with the words in each of its texts. */
function* errorsWith(words: string): Iterable<object> {
  yield { error: words };
  yield { message: words, type: words, code: words };
  yield { detail: words };
  yield { detail: [{ loc: ["body", words], msg: words, type: words }] };
  yield { error: { message: words, type: words, param: words, code: words } };
  yield { error: { message: { detail: [{ loc: [words], msg: words }] }, type: "invalid_request_error" } };
  yield { error: { error: { message: words, param: words, code: words, type: words } } };
  yield { type: "error", error: { type: words, message: words, details: { error_code: words } }, request_id: words };
  yield { type: "error", error: { type: "invalid_request_error", message: `${words}: is wrong` } };
  const google = "type.googleapis.com/google.rpc.";
  const details = [
    { "@type": `${google}BadRequest`, fieldViolations: [{ field: words, description: words }] },
    { "@type": `${google}ErrorInfo`, reason: words, domain: words, metadata: { consumer: words } },
    { "@type": `${google}Help`, links: [{ description: words, url: words }] },
  ];
  yield { error: { code: 400, status: words, message: words, details } };
  yield { message: words, Message: words, __type: words };
}

function shownOf(error: GatewayError): string {
  return `${error.message} ${JSON.stringify(error.metadata)} ${error.param ?? ""}`;
}

const WIRES = new Map(families.map(({ wire }) => [wire.name, wire]));

test.each([...WIRES.values()].flatMap((wire) => Object.entries(TOLD).map(([what, words]) => ({ what, words, wire }))))(
  "$wire.name tells a client nothing of $what",
  ({ wire, words }) => {
    for (const body of errorsWith(words)) {
      for (const value of [body, [body], body])
        for (const status of [400, 401, 403, 404, 413, 422, 429, 500, 503]) {
          const sent = JSON.stringify(value);
          const error = wire.decodeError(status, {}, Buffer.from(sent));
          if (MARKS.test(shownOf(error))) expect.fail(`${status} ${sent} became ${shownOf(error)}`);
        }
      for (const error of inAnswers(wire, body))
        if (MARKS.test(shownOf(error))) expect.fail(`${JSON.stringify(body)} in an answer became ${shownOf(error)}`);
    }
  },
);

/** The same error in an answer that says 200: whole, and as an event. */
function* inAnswers(wire: UpstreamWire, body: object): Iterable<GatewayError> {
  const inner = "error" in body ? body.error : body;
  const forms = [body, { status: "failed", error: inner }, { promptFeedback: { blockReason: JSON.stringify(inner) } }];
  for (const form of forms) {
    try {
      wire.decodeAnswer(Buffer.from(JSON.stringify(form)));
    } catch (error) {
      yield GatewayError.from(error);
    }
  }
  const request = {
    model: "m",
    stream: true,
    includeUsage: true,
    textBytes: 1,
    imageCount: 0,
    fileCount: 0,
    audioCount: 0,
  };
  for (const type of ["error", "response.failed", "response.error"]) {
    const event = { type, ...body, response: { status: "failed", error: inner } };
    const decoder = wire.decodeStream({ ...request, candidateCount: 1, outputTokensMax: undefined }, "source");
    const { error } = decoder.push(Buffer.from(`event: ${type}\ndata: ${JSON.stringify(event)}\n\n`));
    if (error !== undefined) yield error;
  }
}
