/** Coding agents that are told an address of chat completions: each without a person, and told to update nothing. */
import { join } from "node:path";
import type { Agent, AgentPlace } from "./agent.js";

const MACHINE = `${process.platform}-${process.arch}`;
/** What agents are told of a model that they do not know. */
const CONTEXT_TOKENS = 400_000;

/** A program of a package, on the Node of the packages. */
function nodeProgram({ packages }: Pick<AgentPlace, "packages">, program: string): string[] {
  return [join(packages, `node_modules/node-${MACHINE}/bin/node`), join(packages, "node_modules", program)];
}

const qwenCode: Agent = {
  name: "Qwen Code",
  package: "@qwen-code/qwen-code",
  commandFor: (place, prompt) => ({
    command: [
      ...nodeProgram(place, "@qwen-code/qwen-code/cli-entry.js"),
      "-p",
      prompt,
      "--yolo",
      "--auth-type",
      "openai",
      "--model",
      place.model,
      "--output-format",
      "json",
    ],
    env: { OPENAI_BASE_URL: `${place.url}/v1`, OPENAI_API_KEY: place.secret, OPENAI_MODEL: place.model },
    files: {
      ".qwen/settings.json": JSON.stringify({
        privacy: { usageStatisticsEnabled: false },
        general: { enableAutoUpdate: false },
      }),
    },
  }),
};

const pi: Agent = {
  name: "pi",
  package: "@earendil-works/pi-coding-agent",
  endsAtCut: true,
  commandFor: (place, prompt) => ({
    command: [
      ...nodeProgram(place, "@earendil-works/pi-coding-agent/dist/bundle/cli.js"),
      "--print",
      "--mode",
      "json",
      "--provider",
      "tollgate",
      "--model",
      place.model,
      prompt,
    ],
    env: { PI_OFFLINE: "1", PI_TELEMETRY: "0" },
    files: {
      ".pi/agent/models.json": JSON.stringify({
        providers: {
          tollgate: {
            baseUrl: `${place.url}/v1`,
            api: "openai-completions",
            apiKey: place.secret,
            models: [{ id: place.model }],
          },
        },
      }),
    },
  }),
};

const kilo: Agent = {
  name: "Kilo Code",
  package: "@kilocode/cli",
  endsAtCut: true,
  commandFor: ({ packages, url, secret, model }, prompt) => ({
    command: [
      join(packages, `node_modules/@kilocode/cli-${MACHINE}/bin/kilo`),
      "run",
      "--auto",
      "-m",
      `tollgate/${model}`,
      "--format",
      "json",
      prompt,
    ],
    env: {
      KILO_DISABLE_MODELS_FETCH: "1",
      KILO_DISABLE_AUTOUPDATE: "1",
      KILO_DISABLE_DEFAULT_PLUGINS: "1",
      KILO_CONFIG_CONTENT: JSON.stringify({
        share: "disabled",
        provider: {
          tollgate: {
            npm: "@ai-sdk/openai-compatible",
            options: { baseURL: `${url}/v1`, apiKey: secret },
            models: { [model]: {} },
          },
        },
      }),
    },
  }),
};

const continueCli: Agent = {
  name: "Continue",
  package: "@continuedev/cli",
  commandFor: (place, prompt) => ({
    command: [
      ...nodeProgram(place, "@continuedev/cli/dist/cn.js"),
      "-p",
      prompt,
      "--config",
      join(place.home, "config.yaml"),
      "--auto",
    ],
    env: { CONTINUE_TELEMETRY_ENABLED: "0", CONTINUE_CLI_DISABLE_COMMIT_SIGNATURE: "1" },
    files: {
      // YAML reads JSON.
      "config.yaml": JSON.stringify({
        name: "Tollgate",
        version: "1.0.0",
        schema: "v1",
        models: [
          {
            name: place.model,
            provider: "openai",
            model: place.model,
            apiBase: `${place.url}/v1`,
            apiKey: place.secret,
            roles: ["chat"],
            capabilities: ["tool_use"],
          },
        ],
      }),
    },
  }),
};

const copilotCli: Agent = {
  name: "GitHub Copilot CLI",
  package: "@github/copilot",
  commandFor: ({ packages, url, secret, model }, prompt) => ({
    command: [
      join(packages, `node_modules/@github/copilot-${MACHINE}/copilot`),
      "-p",
      prompt,
      "--allow-all-tools",
      "--no-auto-update",
      "--disable-builtin-mcps",
    ],
    env: {
      COPILOT_PROVIDER_BASE_URL: `${url}/v1`,
      COPILOT_PROVIDER_API_KEY: secret,
      COPILOT_MODEL: model,
      COPILOT_OFFLINE: "true",
    },
  }),
};

const kimiCode: Agent = {
  name: "Kimi Code",
  package: "@moonshot-ai/kimi-code",
  commandFor: (place, prompt) => ({
    command: [...nodeProgram(place, "@moonshot-ai/kimi-code/dist/main.mjs"), "-p", prompt],
    env: { KIMI_CODE_HOME: join(place.home, ".kimi-code") },
    files: {
      ".kimi-code/config.toml": [
        'default_model = "tollgate"',
        "telemetry = false",
        "[providers.tollgate]",
        'type = "openai"',
        `base_url = "${place.url}/v1"`,
        `api_key = "${place.secret}"`,
        "[models.tollgate]",
        'provider = "tollgate"',
        `model = "${place.model}"`,
        `max_context_size = ${CONTEXT_TOKENS}`,
        'capabilities = ["tool_use"]',
        "",
      ].join("\n"),
    },
  }),
};

const grokCli: Agent = {
  name: "grok-cli",
  package: "@vibe-kit/grok-cli",
  commandFor: (place, prompt) => ({
    command: [
      ...nodeProgram(place, "@vibe-kit/grok-cli/dist/index.js"),
      "-p",
      prompt,
      "-u",
      `${place.url}/v1`,
      "-k",
      place.secret,
      "-m",
      place.model,
    ],
    env: {},
  }),
};

const cline: Agent = {
  name: "Cline",
  package: "cline",
  endsAtCut: true,
  commandFor: ({ packages, url, secret, model }, prompt) => ({
    command: [
      join(packages, `node_modules/@cline/cli-${MACHINE}/bin/cline`),
      "--json",
      "-P",
      "openai-compatible",
      "-m",
      model,
      prompt,
    ],
    env: {},
    files: {
      // What `cline auth -p openai-compatible -b ... -k ... -m ...` writes.
      ".cline/data/settings/providers.json": JSON.stringify({
        version: 1,
        lastUsedProvider: "openai-compatible",
        modes: {},
        providers: {
          "openai-compatible": {
            settings: { provider: "openai-compatible", apiKey: secret, model, baseUrl: `${url}/v1` },
            updatedAt: "2026-11-29T00:00:00.000Z",
            tokenSource: "manual",
          },
        },
      }),
    },
  }),
};

export const CHAT_AGENTS: readonly Agent[] = [qwenCode, pi, kilo, continueCli, copilotCli, kimiCode, grokCli, cline];
