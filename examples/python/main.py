"""Calls a Tollgate gateway over gRPC: a whole answer, a streamed one, a refusal and the caller's own key.

Usage: main.py ADDRESS KEY MODEL, with the stubs in PYTHONPATH
"""

import json
import sys

import grpc
from google.rpc import error_details_pb2, status_pb2
from tollgate.v1 import content_pb2, generation_pb2, inference_service_pb2, inference_service_pb2_grpc
from tollgate.v1 import key_service_pb2, key_service_pb2_grpc


def generation(model):
    part = content_pb2.Part(text=content_pb2.Text(text="Say hello."))
    message = content_pb2.Message(role=content_pb2.ROLE_USER, parts=[part])
    prompt = generation_pb2.Prompt(messages=[message])
    return generation_pb2.Generation(model=model, prompt=prompt, output_tokens_max=64)


def reason(error):
    """Why the gateway refused, from google.rpc.ErrorInfo."""
    status = status_pb2.Status.FromString(dict(error.trailing_metadata())["grpc-status-details-bin"])
    info = error_details_pb2.ErrorInfo()
    status.details[0].Unpack(info)
    return info.reason


def main(address, key, model):
    metadata = (("authorization", "Bearer " + key),)

    # Over TLS: grpc.secure_channel(address, grpc.ssl_channel_credentials()).
    with grpc.insecure_channel(address) as channel:
        inference = inference_service_pb2_grpc.InferenceServiceStub(channel)

        def whole(name):
            request = inference_service_pb2.GenerateRequest(generation=generation(name))
            answer = inference.Generate(request, metadata=metadata, timeout=60).answer
            parts = [part for candidate in answer.candidates for part in candidate.message.parts]
            return "".join(part.text.text for part in parts)

        request = inference_service_pb2.StreamGenerateRequest(generation=generation(model))
        batches = inference.StreamGenerate(request, metadata=metadata, timeout=60)
        events = [event for batch in batches for event in batch.events]
        try:
            refused = whole("no-such-model")
        except grpc.RpcError as error:
            refused = reason(error)
        keys = key_service_pb2_grpc.KeyServiceStub(channel)
        caller = keys.GetCaller(key_service_pb2.GetCallerRequest(), metadata=metadata, timeout=60)
        report = {
            "whole": whole(model),
            "streamed": "".join(event.text.text for event in events),
            "finished": events[-1].WhichOneof("kind") == "finish",
            "refused": refused,
            "account": caller.key.account_id,
        }
    print(json.dumps(report))


if __name__ == "__main__":
    main(*sys.argv[1:])
