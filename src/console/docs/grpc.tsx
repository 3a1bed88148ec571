/** How to call the same services typed, over gRPC. */
import type { ReactNode } from "react";
import { words } from "../copy/en.ts";
import { docs } from "../copy/en-docs.ts";
import { Code } from "../parts/code.tsx";
import { snippet } from "../parts/snippets.ts";

export function Grpc(): ReactNode {
  const text = snippet("grpc", { origin: window.location.origin, secret: words.secretPlace, model: "MODEL" });
  return (
    <>
      <p>{docs.grpcAbout}</p>
      <Code text={text} what={docs.pages.grpc} />
    </>
  );
}
