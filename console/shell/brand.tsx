/** The product's mark and name. */
import type { ReactNode } from "react";
import { Link } from "@tanstack/react-router";
import mark from "../mark.svg";

export function Brand(): ReactNode {
  return (
    <Link to="/" className="brand">
      <img src={mark} alt="" />
      Tollgate
    </Link>
  );
}
