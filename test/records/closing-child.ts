/** A process that closes its thread of records beside a call that nobody waits for. Run: closing-child DIRECTORY. */
import { RecordThread } from "../../src/records/record-thread.js";

const [directory = ""] = process.argv.slice(2);
const contentKeys = { keys: [Buffer.alloc(32, 7)], previous: undefined };
const thread = await RecordThread.start({ place: { directory }, contentKeys });
thread.call("joinTails").catch(() => undefined);
await thread.close();
process.stdout.write("closed\n");
