// Calls a Tollgate gateway over gRPC: a whole answer, a streamed one, a refusal and the caller's own key.
//
// Usage: java Example ADDRESS KEY MODEL

import com.google.gson.Gson;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.rpc.ErrorInfo;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.protobuf.StatusProto;
import io.grpc.stub.MetadataUtils;
import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import tollgate.v1.Candidate;
import tollgate.v1.Event;
import tollgate.v1.GenerateRequest;
import tollgate.v1.Generation;
import tollgate.v1.GetCallerRequest;
import tollgate.v1.InferenceServiceGrpc;
import tollgate.v1.KeyServiceGrpc;
import tollgate.v1.Message;
import tollgate.v1.Part;
import tollgate.v1.Prompt;
import tollgate.v1.Role;
import tollgate.v1.StreamGenerateRequest;
import tollgate.v1.StreamGenerateResponse;
import tollgate.v1.Text;

final class Example {
  private final InferenceServiceGrpc.InferenceServiceBlockingStub inference;
  private final KeyServiceGrpc.KeyServiceBlockingStub keys;

  private Example(ManagedChannel channel, String key) {
    Metadata headers = new Metadata();
    headers.put(Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER), "Bearer " + key);
    var credential = MetadataUtils.newAttachHeadersInterceptor(headers);
    inference = InferenceServiceGrpc.newBlockingStub(channel).withInterceptors(credential);
    keys = KeyServiceGrpc.newBlockingStub(channel).withInterceptors(credential);
  }

  private static Generation generation(String model) {
    Part part = Part.newBuilder().setText(Text.newBuilder().setText("Say hello.")).build();
    Message message = Message.newBuilder().setRole(Role.ROLE_USER).addParts(part).build();
    Prompt prompt = Prompt.newBuilder().addMessages(message).build();
    return Generation.newBuilder().setModel(model).setPrompt(prompt).setOutputTokensMax(64).build();
  }

  private String whole(String model) {
    GenerateRequest request = GenerateRequest.newBuilder().setGeneration(generation(model)).build();
    StringBuilder text = new StringBuilder();
    for (Candidate candidate : inference.generate(request).getAnswer().getCandidatesList()) {
      for (Part part : candidate.getMessage().getPartsList()) text.append(part.getText().getText());
    }
    return text.toString();
  }

  /** The answer in batches of events; without its finish it was cut. */
  private String streamed(String model) {
    StreamGenerateRequest request = StreamGenerateRequest.newBuilder().setGeneration(generation(model)).build();
    StringBuilder text = new StringBuilder();
    boolean finished = false;
    Iterator<StreamGenerateResponse> batches = inference.streamGenerate(request);
    while (batches.hasNext()) {
      for (Event event : batches.next().getEventsList()) {
        text.append(event.getText().getText());
        finished = event.hasFinish();
      }
    }
    if (!finished) throw new IllegalStateException("the answer was cut");
    return text.toString();
  }

  /** Why the gateway refuses a model that does not exist. */
  private String refused() throws InvalidProtocolBufferException {
    try {
      whole("no-such-model");
      return "";
    } catch (StatusRuntimeException error) {
      return StatusProto.fromThrowable(error).getDetails(0).unpack(ErrorInfo.class).getReason();
    }
  }

  private String account() {
    return keys.getCaller(GetCallerRequest.getDefaultInstance()).getKey().getAccountId();
  }

  public static void main(String[] arguments) throws Exception {
    if (arguments.length != 3) throw new IllegalArgumentException("usage: java Example ADDRESS KEY MODEL");
    // Over TLS: without usePlaintext().
    ManagedChannel channel = NettyChannelBuilder.forTarget(arguments[0]).usePlaintext().build();
    Example example = new Example(channel, arguments[1]);
    String model = arguments[2];
    var report =
        Map.of(
            "whole", example.whole(model),
            "streamed", example.streamed(model),
            "finished", true,
            "refused", example.refused(),
            "account", example.account());
    System.out.println(new Gson().toJson(report));
    channel.shutdownNow().awaitTermination(5, TimeUnit.SECONDS);
  }
}
