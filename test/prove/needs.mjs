/** What parts of the proof need on the machine, and how our scripts install it where they can. */

/** @typedef {import("./running.mjs").Need} Need */

const PREPARE_TEST = ["node", "src/build/prepare.mjs", "test"];
const PREPARE_PROVE = ["node", "src/build/prepare.mjs", "prove"];
const JAVA_PLUGIN = "command -v javac && command -v grpc_java_plugin && test -f /usr/share/java/netty-codec.jar";

/** @param {string} name @param {string} script @param {readonly string[]} install @returns {Need} */
function shell(name, script, install) {
  return { name, probe: ["sh", "-c", script], install };
}

/** The servers that keep the state of several nodes. */
export const SERVERS = [
  shell(
    "PostgreSQL",
    'test -n "$TOLLGATE_TEST_DATABASE_URL" || ls /usr/lib/postgresql/1[4-9]/bin/initdb || command -v initdb',
    PREPARE_TEST,
  ),
  shell("Redis", 'test -n "$TOLLGATE_TEST_REDIS_URL" || command -v redis-server', PREPARE_TEST),
];

/** Cuts nodes of a cluster off, and stands before them. */
export const NGINX = shell("nginx", "nginx -v", PREPARE_TEST);

export const CHROMIUM = shell("Chromium", '"${TOLLGATE_TEST_CHROMIUM:-/usr/bin/chromium}" --version', [
  "node",
  "src/build/prepare.mjs",
  "browser",
]);

/** As Debian installs them, which is where the tests look. */
export const PYTHON = shell(
  "Python with gRPC",
  'test -x /usr/bin/grpc_python_plugin && /usr/bin/python3 -c "import grpc, google.protobuf"',
  PREPARE_PROVE,
);
export const LANGUAGES = [
  PYTHON,
  shell("Go with gRPC", "test -x /usr/bin/go && test -x /usr/bin/protoc-gen-go-grpc", PREPARE_PROVE),
  shell("Java with gRPC", JAVA_PLUGIN, PREPARE_PROVE),
  shell("Prometheus", "prometheus --version && promtool --version", PREPARE_PROVE),
];

/** The probe alone: what no smoke installs. @param {Need} need @returns {Need} */
export function atHand({ name, probe }) {
  return { name, ...(probe === undefined ? {} : { probe }) };
}

/** @param {string} version @returns {Need} */
export function nodeOf(version) {
  const line = version.split(".")[0] ?? version;
  return { name: `Node ${version} from the npm registry`, install: ["node", "test/prove/install-node.mjs", line] };
}

/** @type {Need} */
export const ONE_AGENT = { name: "an agent from the npm registry", install: ["node", "test/agents/one-agent.mjs"] };

/** @type {Need} */
export const OPENAPI = {
  name: "OpenAI's OpenAPI document, of GitHub",
  install: ["node", "test/openapi/main.mjs", "--fetch"],
};
