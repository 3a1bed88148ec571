/** What the gateway does with the members of a request for vectors. */
import { memberTable } from "../../../request/members.js";

/** All of the body is the gateway's own. */
export const MEMBERS = memberTable({ owned: ["requests"] });
