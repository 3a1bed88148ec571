/** Links to what a request names: its key, and its upstream where the reader may open that. */
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useSignedIn } from "../shell/session.ts";

export function KeyLink({ id, name = id }: { readonly id: string; readonly name?: string | undefined }): ReactNode {
  if (id === "") return "";
  return (
    <Link to="/keys/$id" params={{ id }}>
      {name}
    </Link>
  );
}

export function UpstreamLink({ name }: { readonly name: string }): ReactNode {
  const { isOperator } = useSignedIn();
  return isOperator && name !== "" ? <Link to="/admin/upstreams">{name}</Link> : name;
}
