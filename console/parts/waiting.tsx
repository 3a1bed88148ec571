/** What stands where an answer is still on its way; it shows itself only when that takes a while. */
import { type ReactNode, useEffect, useState } from "react";
import { words } from "../copy/en.ts";

const QUIET_MS = 300;

export function Waiting({ height }: { readonly height?: number }): ReactNode {
  const [isLong, setLong] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLong(true), QUIET_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div className="waiting" role="status" style={{ minHeight: height }}>
      {isLong ? words.waiting : ""}
    </div>
  );
}
