// Calls a Tollgate gateway over gRPC: a whole answer, a streamed one, a refusal and the caller's own key.
//
// Usage: go run main.go ADDRESS KEY MODEL
package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log"
	"os"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	tollgate "tollgate/v1"
)

func generation(model string) *tollgate.Generation {
	text := &tollgate.Part{Kind: &tollgate.Part_Text{Text: &tollgate.Text{Text: "Say hello."}}}
	message := &tollgate.Message{Role: tollgate.Role_ROLE_USER, Parts: []*tollgate.Part{text}}
	tokens := uint64(64)
	return &tollgate.Generation{
		Model:           model,
		Input:           &tollgate.Generation_Prompt{Prompt: &tollgate.Prompt{Messages: []*tollgate.Message{message}}},
		OutputTokensMax: &tokens,
	}
}

// whole asks for an answer in one piece and returns its text.
func whole(ctx context.Context, client tollgate.InferenceServiceClient, model string) (string, error) {
	response, err := client.Generate(ctx, &tollgate.GenerateRequest{Generation: generation(model)})
	if err != nil {
		return "", err
	}
	text := ""
	for _, candidate := range response.GetAnswer().GetCandidates() {
		for _, part := range candidate.GetMessage().GetParts() {
			text += part.GetText().GetText()
		}
	}
	return text, nil
}

// streamed asks for the same answer in batches of events, and says whether it came to its end.
func streamed(ctx context.Context, client tollgate.InferenceServiceClient, model string) (string, bool, error) {
	stream, err := client.StreamGenerate(ctx, &tollgate.StreamGenerateRequest{Generation: generation(model)})
	if err != nil {
		return "", false, err
	}
	text, finished := "", false
	for {
		batch, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return text, finished, nil
		}
		if err != nil {
			return "", false, err
		}
		for _, event := range batch.GetEvents() {
			text += event.GetText().GetText()
			finished = event.GetFinish() != nil
		}
	}
}

// reason reads why the gateway refused.
func reason(err error) string {
	for _, detail := range status.Convert(err).Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok {
			return info.GetReason()
		}
	}
	return ""
}

func main() {
	log.SetFlags(0)
	if len(os.Args) != 4 {
		log.Fatal("usage: go run main.go ADDRESS KEY MODEL")
	}
	address, key, model := os.Args[1], os.Args[2], os.Args[3]
	// Over TLS: grpc.WithTransportCredentials(credentials.NewTLS(nil)).
	connection, err := grpc.Dial(address, grpc.WithInsecure())
	if err != nil {
		log.Fatal(err)
	}
	defer connection.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	ctx = metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+key)

	inference := tollgate.NewInferenceServiceClient(connection)
	answer, err := whole(ctx, inference, model)
	if err != nil {
		log.Fatal(err)
	}
	pieces, finished, err := streamed(ctx, inference, model)
	if err != nil {
		log.Fatal(err)
	}
	_, refused := whole(ctx, inference, "no-such-model")
	caller, err := tollgate.NewKeyServiceClient(connection).GetCaller(ctx, &tollgate.GetCallerRequest{})
	if err != nil {
		log.Fatal(err)
	}
	report := map[string]any{
		"whole":    answer,
		"streamed": pieces,
		"finished": finished,
		"refused":  reason(refused),
		"account":  caller.GetKey().GetAccountId(),
	}
	if err := json.NewEncoder(os.Stdout).Encode(report); err != nil {
		log.Fatal(err)
	}
}
