/**
 * Calls a Tollgate gateway over gRPC with Connect for Node: a whole answer, a streamed one, a refusal and the caller's
 * own key. Usage: node main.js ADDRESS KEY MODEL
 */
import { type CallOptions, ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { ErrorInfoSchema } from "./stubs/google/rpc/error_details_pb.js";
import { Role } from "./stubs/tollgate/v1/content_pb.js";
import { InferenceService } from "./stubs/tollgate/v1/inference_service_pb.js";
import { KeyService } from "./stubs/tollgate/v1/key_service_pb.js";

const [address = "", key = "", model = ""] = process.argv.slice(2);
const transport = createGrpcTransport({ baseUrl: `http://${address}` });
const options: CallOptions = { headers: { authorization: `Bearer ${key}` }, timeoutMs: 60_000 };
const inference = createClient(InferenceService, transport);
const keys = createClient(KeyService, transport);

function asked(name: string) {
  const parts = [{ kind: { case: "text" as const, value: { text: "Say hello." } } }];
  const prompt = { messages: [{ role: Role.USER, parts }] };
  return { generation: { model: name, input: { case: "prompt" as const, value: prompt }, outputTokensMax: 64n } };
}

async function whole(name: string): Promise<string> {
  const { answer } = await inference.generate(asked(name), options);
  const parts = (answer?.candidates ?? []).flatMap(({ message }) => message?.parts ?? []);
  return parts.map(({ kind }) => (kind.case === "text" ? kind.value.text : "")).join("");
}

/** The answer comes in batches of events; without its finish it was cut. */
async function streamed(): Promise<{ readonly text: string; readonly finished: boolean }> {
  let text = "";
  let finished = false;
  for await (const batch of inference.streamGenerate(asked(model), options)) {
    for (const { kind } of batch.events) {
      if (kind.case === "text") text += kind.value.text;
      finished = kind.case === "finish";
    }
  }
  return { text, finished };
}

/** Why the gateway refuses a model that does not exist, from google.rpc.ErrorInfo. */
async function refused(): Promise<string> {
  try {
    return await whole("no-such-model");
  } catch (error) {
    return ConnectError.from(error).findDetails(ErrorInfoSchema)[0]?.reason ?? String(error);
  }
}

const { text, finished } = await streamed();
const account = (await keys.getCaller({}, options)).key?.accountId;
console.log(JSON.stringify({ whole: await whole(model), streamed: text, finished, refused: await refused(), account }));
// Its connection stays open for a while.
process.exit();
