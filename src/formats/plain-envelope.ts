/** What a refusal says where no format was asked for: OpenAI's envelope, the one most clients read, and its code. */
export { encodeError as plainEnvelope } from "../wire/openai/error.js";
export { codeOf as plainCode } from "../wire/error/code.js";
