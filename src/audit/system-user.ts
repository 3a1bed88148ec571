/** The system's user under whom this process runs: who did what a command does to a database itself. */
import { userInfo } from "node:os";

/** Some systems have users without a name. */
export function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `${process.getuid?.() ?? ""}`;
  }
}
