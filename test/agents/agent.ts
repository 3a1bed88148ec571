/** The coding agents: how each is started without a person, and how it finds the gateway. */
import { join } from "node:path";
import { CHAT_AGENTS } from "./chat-agents.js";

export interface AgentPlace {
  /** Where the packages are. */
  readonly packages: string;
  /** The agent's own home, empty at its start. */
  readonly home: string;
  /** The gateway's address, without a path. */
  readonly url: string;
  readonly secret: string;
  readonly model: string;
}

export interface AgentCommand {
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Files that it reads at its start, by their path in its home. */
  readonly files?: Readonly<Record<string, string>>;
}

export interface Agent {
  readonly name: string;
  /** What of the pinned packages it is. */
  readonly package: string;
  /** It asks no second time where an answer was cut, and says what it was told. */
  readonly endsAtCut?: boolean;
  readonly commandFor: (place: AgentPlace, prompt: string) => AgentCommand;
}

const MACHINE = `${process.platform}-${process.arch}`;

const claudeCode: Agent = {
  name: "Claude Code",
  package: "@anthropic-ai/claude-code",
  commandFor: ({ packages, home, url, secret, model }, prompt) => ({
    command: [
      join(packages, `node_modules/@anthropic-ai/claude-code-${MACHINE}/claude`),
      "-p",
      prompt,
      "--model",
      model,
      "--allowedTools",
      "Bash",
      "--output-format",
      "stream-json",
      "--verbose",
    ],
    env: {
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: secret,
      ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
      CLAUDE_CONFIG_DIR: join(home, ".claude"),
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      DISABLE_AUTOUPDATER: "1",
    },
  }),
};

const CODEX = ["exec", "--skip-git-repo-check", "--json", "--dangerously-bypass-approvals-and-sandbox"];

function codexCommand({ packages, home, secret, model }: AgentPlace, settings: readonly string[]): AgentCommand {
  const binary = process.arch === "arm64" ? "aarch64-unknown-linux-musl" : "x86_64-unknown-linux-musl";
  return {
    command: [
      join(packages, `node_modules/@openai/codex-${MACHINE}/vendor/${binary}/bin/codex`),
      ...CODEX,
      "-m",
      model,
      ...settings.flatMap((setting) => ["-c", setting]),
    ],
    env: { CODEX_HOME: home, CODEX_API_KEY: secret, TOLLGATE_KEY: secret },
  };
}

const codexBuiltIn: Agent = {
  name: "Codex, built-in provider",
  package: "@openai/codex",
  commandFor: (place, prompt) => {
    const { command, env } = codexCommand(place, [`openai_base_url="${place.url}/v1"`]);
    return { command: [...command, prompt], env };
  },
};

const codexCustom: Agent = {
  name: "Codex, custom provider",
  package: "@openai/codex",
  commandFor: (place, prompt) => {
    const addresses = `base_url="${place.url}/v1",model_catalog_url="${place.url}/v1/models"`;
    const endpoint = `{name="Tollgate",${addresses},env_key="TOLLGATE_KEY",wire_api="responses"}`;
    const { command, env } = codexCommand(place, [
      `model_providers.tollgate=${endpoint}`,
      `model_provider="tollgate"`,
      "features.api_key_model_discovery=true",
    ]);
    return { command: [...command, prompt], env };
  },
};

const geminiCli: Agent = {
  name: "Gemini CLI",
  package: "@google/gemini-cli",
  commandFor: ({ packages, url, secret, model }, prompt) => ({
    command: [
      join(packages, `node_modules/node-${MACHINE}/bin/node`),
      join(packages, "node_modules/@google/gemini-cli/bundle/gemini.js"),
      "-p",
      prompt,
      "-m",
      model,
      "--yolo",
      "--output-format",
      "json",
    ],
    env: {
      GOOGLE_GEMINI_BASE_URL: url,
      GEMINI_API_KEY: secret,
      GEMINI_CLI_TRUST_WORKSPACE: "true",
      GEMINI_TELEMETRY_ENABLED: "false",
    },
    files: {
      ".gemini/settings.json": JSON.stringify({
        security: { auth: { selectedType: "gemini-api-key" } },
        privacy: { usageStatisticsEnabled: false },
        general: { enableAutoUpdate: false },
      }),
    },
  }),
};

const opencode: Agent = {
  name: "opencode",
  package: "opencode-ai",
  commandFor: ({ packages, url, secret, model }, prompt) => ({
    command: [
      join(packages, `node_modules/opencode-${MACHINE}/bin/opencode`),
      "run",
      "-m",
      `tollgate/${model}`,
      "--format",
      "json",
      prompt,
    ],
    env: {
      OPENCODE_DISABLE_MODELS_FETCH: "1",
      OPENCODE_DISABLE_AUTOUPDATE: "1",
      OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
      OPENCODE_CONFIG_CONTENT: JSON.stringify({
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

export const AGENTS: readonly Agent[] = [claudeCode, codexBuiltIn, codexCustom, geminiCli, opencode, ...CHAT_AGENTS];
