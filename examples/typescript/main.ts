/**
 * Calls a Tollgate gateway over gRPC with stubs of ts-proto: a whole answer, a streamed one, a refusal and the caller's
 * own key. Usage: node main.js ADDRESS KEY MODEL
 */
import { promisify } from "node:util";
import { credentials, Metadata, type ServiceError } from "@grpc/grpc-js";
import { ErrorInfo } from "./stubs/google/rpc/error_details.js";
import { Status } from "./stubs/google/rpc/status.js";
import { Role } from "./stubs/tollgate/v1/content.js";
import { Generation } from "./stubs/tollgate/v1/generation.js";
import {
  GenerateRequest,
  type GenerateResponse,
  InferenceServiceClient,
  StreamGenerateRequest,
} from "./stubs/tollgate/v1/inference_service.js";
import { GetCallerRequest, type GetCallerResponse, KeyServiceClient } from "./stubs/tollgate/v1/key_service.js";

const [address = "", key = "", model = ""] = process.argv.slice(2);
const metadata = new Metadata();
metadata.set("authorization", `Bearer ${key}`);
// Over TLS: credentials.createSsl().
const inference = new InferenceServiceClient(address, credentials.createInsecure());
const keys = new KeyServiceClient(address, credentials.createInsecure());

const generate = promisify<GenerateRequest, Metadata, GenerateResponse>(inference.generate.bind(inference));
const getCaller = promisify<GetCallerRequest, Metadata, GetCallerResponse>(keys.getCaller.bind(keys));

function generation(name: string): Generation {
  const parts = [{ kind: { $case: "text" as const, value: { text: "Say hello." } } }];
  const prompt = { messages: [{ role: Role.ROLE_USER, parts }] };
  return Generation.fromPartial({ model: name, input: { $case: "prompt", value: prompt }, outputTokensMax: 64n });
}

async function whole(name: string): Promise<string> {
  const { answer } = await generate(GenerateRequest.fromPartial({ generation: generation(name) }), metadata);
  const parts = (answer?.candidates ?? []).flatMap(({ message }) => message?.parts ?? []);
  return parts.map(({ kind }) => (kind?.$case === "text" ? kind.value.text : "")).join("");
}

/** The answer comes in batches of events; without its finish it was cut. */
async function streamed(): Promise<{ readonly text: string; readonly finished: boolean }> {
  const request = StreamGenerateRequest.fromPartial({ generation: generation(model) });
  let text = "";
  let finished = false;
  for await (const batch of inference.streamGenerate(request, metadata)) {
    for (const { kind } of batch.events) {
      if (kind?.$case === "text") text += kind.value.text;
      finished = kind?.$case === "finish";
    }
  }
  return { text, finished };
}

/** Why the gateway refuses a model that does not exist, from google.rpc.ErrorInfo. */
async function refused(): Promise<string> {
  try {
    return await whole("no-such-model");
  } catch (error) {
    const [bytes] = (error as ServiceError).metadata.get("grpc-status-details-bin");
    const detail = Buffer.isBuffer(bytes) ? Status.decode(bytes).details[0] : undefined;
    return detail === undefined ? String(error) : ErrorInfo.decode(detail.value).reason;
  }
}

const { text, finished } = await streamed();
const caller = await getCaller(GetCallerRequest.fromPartial({}), metadata);
const account = caller.key?.accountId;
console.log(JSON.stringify({ whole: await whole(model), streamed: text, finished, refused: await refused(), account }));
inference.close();
keys.close();
