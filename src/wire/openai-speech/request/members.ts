/** What the gateway does with the members of a request for speech. */
import { ROUTED } from "../../openai/request/members.js";
import { ownWords } from "../../request/kept-ids.js";
import { memberTable } from "../../request/members.js";
import { CACHE_MEMBERS } from "../../request/prompt-cache.js";

const READ = ["model", "input", "speed", "response_format", "stream_format"] as const;
const PLAIN = ["voice", "instructions", "user"] as const;

export const MEMBERS = memberTable({ ...ROUTED, owned: [...READ, ...CACHE_MEMBERS], plain: PLAIN });

/** The text to speak and how to speak it are their writer's, whatever they say. */
export const OWN_WORDS = ownWords({ anywhere: [], beside: ["input", "instructions", "voice"] });
