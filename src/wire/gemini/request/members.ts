/** What the gateway does with the members of a request on Google's wire, and with its tools. */
import type { ToolRule } from "../../request/hosted-tools.js";
import { ownWords } from "../../request/kept-ids.js";
import { memberTable } from "../../request/members.js";
import { fieldName } from "../facts.js";

const ONE_MODEL = "the path names the one model that is asked";
const KEPT = "what the upstream keeps is shared by all who use this gateway; send the content itself";
const OPERATORS = "it is for whoever runs the upstream";
const WRITTEN = "media comes in the answer; the upstream writes nothing to a store of the operator's";
const LIMIT = "write the limit of the output as 'generationConfig.maxOutputTokens'";

export const MEMBERS = memberTable({
  nameOf: fieldName,
  owned: ["model", "contents", "systemInstruction", "tools", "generateContentRequest"],
  plain: ["toolConfig", "safetySettings", "labels", "store", "continuationToken", "automaticContinuation"],
  tiers: { serviceTier: [] },
  refused: {
    modelArmorConfig: OPERATORS,
    models: ONE_MODEL,
    maxOutputTokens: LIMIT,
    outputConfig: WRITTEN,
  },
  objects: {
    generationConfig: {
      owned: ["maxOutputTokens", "candidateCount"],
      plain: [
        "temperature",
        "topP",
        "topK",
        "stopSequences",
        "seed",
        "presencePenalty",
        "frequencyPenalty",
        "responseLogprobs",
        "logprobs",
        "responseMimeType",
        "responseSchema",
        "responseJsonSchema",
        "responseFormat",
        "responseModalities",
        "mediaResolution",
        "speechConfig",
        "thinkingConfig",
        "imageConfig",
        "audioTimestamp",
        "audioTranscriptionConfig",
        "enableAffectiveDialog",
        "enableEnhancedCivicAnswers",
        "translationConfig",
      ],
      refused: {
        routingConfig: ONE_MODEL,
        modelSelectionConfig: ONE_MODEL,
        modelConfig: ONE_MODEL,
        model: ONE_MODEL,
        generationOutputConfig: WRITTEN,
      },
    },
  },
});

/** Tools by the member that names each. */
export const TOOLS: ReadonlyMap<string, ToolRule> = new Map<string, ToolRule>([
  ["functionDeclarations", { kind: "client" }],
  ["computerUse", { kind: "client" }],
  ["urlContext", { kind: "free" }],
  ["codeExecution", { kind: "free" }],
  ["googleSearch", { kind: "priced", name: "web_search" }],
  ["googleSearchRetrieval", { kind: "priced", name: "web_search" }],
  ["enterpriseWebSearch", { kind: "priced", name: "enterprise_web_search" }],
  ["googleMaps", { kind: "priced", name: "google_maps" }],
  ["exaAiSearch", { kind: "priced", name: "exa_ai_search" }],
  ["parallelAiSearch", { kind: "priced", name: "parallel_ai_search" }],
  ["mcpServers", { kind: "priced", name: "mcp" }],
  ["retrieval", { kind: "refused", instead: KEPT }],
  ["fileSearch", { kind: "refused", instead: KEPT }],
]);

/** Where names of members are no ids: in schemas and calls, and in what a client notes for itself. */
export const OWN_WORDS = ownWords({
  anywhere: [
    "args",
    "response",
    "parameters",
    "parametersJsonSchema",
    "responseSchema",
    "responseJsonSchema",
    "schema",
  ],
  beside: ["labels"],
  nameOf: fieldName,
});
