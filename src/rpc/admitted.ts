/** A caller that the dispatcher let in before its message was read. */
import type { Admission } from "../api/channel.js";

export class Admitted implements Admission {
  constructor(
    readonly holder: string,
    /** Where it calls from, as an IP literal; empty where nobody knows. */
    readonly address: string,
  ) {}
}
