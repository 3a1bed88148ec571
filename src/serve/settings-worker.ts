/** The entry of the thread that answers one question about a settings text, and ends. */
import assert from "node:assert";
import { parentPort, workerData } from "node:worker_threads";
import { answerSettings } from "./settings-edit.js";

assert(parentPort !== null, "this file runs in a thread of its own");
parentPort.postMessage(await answerSettings(workerData), []);
