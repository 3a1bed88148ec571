// Debian's gRPC is older than the messages that its protoc-gen-go makes: this codec writes them as newer ones do.
package main

import (
	"google.golang.org/grpc/encoding"
	"google.golang.org/protobuf/proto"
)

type codec struct{}

func (codec) Marshal(message any) ([]byte, error)      { return proto.Marshal(message.(proto.Message)) }
func (codec) Unmarshal(bytes []byte, message any) error { return proto.Unmarshal(bytes, message.(proto.Message)) }
func (codec) Name() string                              { return "proto" }

func init() { encoding.RegisterCodec(codec{}) }
