/** What somebody types, once nobody typed for a moment: what is asked of the gateway is not asked at every letter. */
import { useEffect, useState } from "react";

const TYPING_MS = 300;

export function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), TYPING_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}
