"""Makes a whole and a streamed call with stubs generated from proto/, and prints what came as one JSON line.

Usage: python_client.py STUBS ADDRESS KEY MODEL [TEXT]
"""

import json
import sys


def main(stubs, address, key, model, text="Say hello."):
    sys.path.insert(0, stubs)
    import grpc
    from google.rpc import error_details_pb2, status_pb2
    from tollgate.v1 import content_pb2, generation_pb2, inference_service_pb2, inference_service_pb2_grpc

    metadata = (("authorization", "Bearer " + key),)
    prompt = generation_pb2.Prompt(
        messages=[
            content_pb2.Message(
                role=content_pb2.ROLE_USER,
                parts=[content_pb2.Part(text=content_pb2.Text(text=text))],
            )
        ]
    )

    def generation(name):
        return generation_pb2.Generation(model=name, prompt=prompt, output_tokens_max=64)

    def refusal_of(error):
        """The reason that the gateway gives, from google.rpc.ErrorInfo."""
        told = dict(error.trailing_metadata())
        status = status_pb2.Status.FromString(told["grpc-status-details-bin"])
        # Google's own clients refuse details whose code and message are not the status's.
        assert (status.code, status.message) == (error.code().value[0], error.details())
        info = error_details_pb2.ErrorInfo()
        assert status.details[0].Unpack(info)
        return {
            "code": error.code().name,
            "reason": info.reason,
            "domain": info.domain,
            "message": error.details(),
            "request_id": told["x-request-id"],
        }

    def text_of(parts):
        return "".join(part.text.text for part in parts if part.WhichOneof("kind") == "text")

    with grpc.insecure_channel(address) as channel:
        inference = inference_service_pb2_grpc.InferenceServiceStub(channel)
        whole_request = inference_service_pb2.GenerateRequest(generation=generation(model))
        whole, call = inference.Generate.with_call(whole_request, metadata=metadata, timeout=60)
        answer = whole.answer
        stream = inference.StreamGenerate(
            inference_service_pb2.StreamGenerateRequest(generation=generation(model)), metadata=metadata, timeout=60
        )
        head = dict(stream.initial_metadata())
        batches = list(stream)
        events = [event for batch in batches for event in batch.events]
        try:
            unknown = inference_service_pb2.GenerateRequest(generation=generation("no-such-model"))
            inference.Generate(unknown, metadata=metadata, timeout=60)
            refusal = None
        except grpc.RpcError as error:
            refusal = refusal_of(error)

    print(
        json.dumps(
            {
                "whole": {
                    "text": "".join(text_of(candidate.message.parts) for candidate in answer.candidates),
                    "cost_nanos": str(answer.cost_nanos),
                    "request_id": dict(call.initial_metadata())["x-request-id"],
                },
                "streamed": {
                    "text": "".join(event.text.text for event in events if event.WhichOneof("kind") == "text"),
                    "last": events[-1].WhichOneof("kind"),
                    "batches": len(batches),
                    "request_id": head["x-request-id"],
                },
                "refusal": refusal,
            }
        )
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
