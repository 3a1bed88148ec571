/** Tools that upstreams run, as the clients of each wire ask for them. */

export type Json = Readonly<Record<string, unknown>>;

/** Each wire's own tools, and the members that ask for one. */
const HOSTED: Readonly<Record<string, readonly { readonly body: Json; readonly param: string }[]>> = {
  "openai-chat": [
    ...["web_search", "code_interpreter", "mcp", "file_search", "image_generation", "x_search"].map((type) => ({
      body: { tools: [{ type }] },
      param: "tools[0]",
    })),
    { body: { web_search_options: {} }, param: "web_search_options" },
    { body: { search_parameters: { mode: "on" } }, param: "search_parameters" },
    { body: { mcp_servers: [{ url: "https://example.com" }] }, param: "mcp_servers" },
  ],
  "openai-responses": ["code_interpreter", "mcp", "file_search", "image_generation"].map((type) => ({
    body: { tools: [{ type }] },
    param: "tools[0]",
  })),
  anthropic: [
    ...["web_search_20250305", "code_execution_20250825", "mcp_toolset"].map((type) => ({
      body: { tools: [{ type, name: "t" }] },
      param: "tools[0]",
    })),
    { body: { mcp_servers: [{ type: "url", url: "https://example.com", name: "m" }] }, param: "mcp_servers" },
  ],
  gemini: ["googleSearch", "googleMaps", "enterpriseWebSearch"].map((name) => ({
    body: { tools: [{ [name]: {} }] },
    param: `tools[0].${name}`,
  })),
};

export const CASES = Object.entries(HOSTED).flatMap(([wire, tools]) => tools.map((tool) => ({ wire, ...tool })));
