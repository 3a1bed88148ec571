/** Server reflection, v1 and v1alpha: generic clients such as grpcurl learn the protocol from it. */
import { type Server, type ServerDuplexStream, status } from "@grpc/grpc-js";
import {
  ServerReflectionRequest,
  type ServerReflectionResponse,
  ServerReflectionService as ReflectionV1,
} from "../../../gen/grpc/reflection/v1/reflection.js";
import { ServerReflectionService as ReflectionV1Alpha } from "../../../gen/grpc/reflection/v1alpha/reflection.js";
import { INTERNAL_PACKAGE } from "../../api/descriptors.js";
import { DescriptorIndex } from "./descriptor-index.js";

/** What it adds beside the services of a server. */
const OWN_SERVICES = ["grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection"];

type Answer = ServerReflectionResponse["messageResponse"];
type Talk = ServerDuplexStream<ServerReflectionRequest, ServerReflectionResponse>;

/**
 * Adds both versions. `enter` lets somebody in, and rejects with a status; without it nobody is asked for a key, since
 * what they show is public.
 */
export function addReflection(
  server: Server,
  descriptorSet: () => Uint8Array,
  serviceNames: readonly string[],
  enter?: (talk: Talk) => Promise<void>,
): void {
  let index: DescriptorIndex | undefined;
  const names = [...serviceNames, ...OWN_SERVICES];
  const begin = (talk: Talk): void => {
    // Few gateways are ever asked.
    index ??= new DescriptorIndex(descriptorSet(), { withoutPackage: INTERNAL_PACKAGE });
    converse(talk, index, names);
  };
  const serverReflectionInfo = (talk: Talk): void => {
    if (enter === undefined) return begin(talk);
    enter(talk).then(
      () => begin(talk),
      (refusal: unknown) => talk.emit("error", refusal),
    );
  };
  server.addService(ReflectionV1, { serverReflectionInfo });
  server.addService(ReflectionV1Alpha, { serverReflectionInfo });
}

/** The longest name of the protocol is a tenth of that, and an answer repeats its question twice. */
const QUESTION_BYTES_MAX = 1_024;

/** One answer for each question, in order, at the asker's pace. */
function converse(talk: Talk, index: DescriptorIndex, names: readonly string[]): void {
  talk.on("data", (request: ServerReflectionRequest) => {
    if (ServerReflectionRequest.encode(request).finish().length > QUESTION_BYTES_MAX) {
      const details = `a question has at most ${QUESTION_BYTES_MAX} bytes`;
      talk.emit("error", { code: status.INVALID_ARGUMENT, details });
      return void talk.destroy();
    }
    const messageResponse = answer(request.messageRequest, index, names);
    if (!talk.write({ validHost: request.host, originalRequest: request, messageResponse })) talk.pause();
  });
  talk.on("drain", () => talk.resume());
  talk.on("end", () => talk.end());
}

function answer(
  request: ServerReflectionRequest["messageRequest"],
  index: DescriptorIndex,
  names: readonly string[],
): Answer {
  switch (request?.$case) {
    case "listServices":
      return { $case: "listServicesResponse", value: { service: names.map((name) => ({ name })) } };
    case "fileByFilename":
      return files(index.file(request.value), request.value);
    case "fileContainingSymbol":
      return files(index.fileOfSymbol(request.value), request.value);
    case "fileContainingExtension": {
      const { containingType, extensionNumber } = request.value;
      const found = index.fileOfExtension(containingType, extensionNumber);
      return files(found, `the extension ${extensionNumber} of ${containingType}`);
    }
    case "allExtensionNumbersOfType": {
      const extensionNumber = index.extensionNumbers(request.value);
      if (extensionNumber === undefined) return failure(status.NOT_FOUND, `${request.value} is not known`);
      return { $case: "allExtensionNumbersResponse", value: { baseTypeName: request.value, extensionNumber } };
    }
    case undefined:
      return failure(status.INVALID_ARGUMENT, "the question asks for nothing");
  }
}

function files(fileDescriptorProto: Buffer[] | undefined, what: string): Answer {
  if (fileDescriptorProto === undefined) return failure(status.NOT_FOUND, `${what} is not known`);
  return { $case: "fileDescriptorResponse", value: { fileDescriptorProto } };
}

function failure(errorCode: status, errorMessage: string): Answer {
  return { $case: "errorResponse", value: { errorCode, errorMessage } };
}
