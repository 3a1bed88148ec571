/** How the stubs of each language are made of proto/ alone, compiled without a warning, and called by its example. */
import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { promisify } from "node:util";

const RUN_MS_MAX = 300_000;
const JAVA = "/usr/share/java";
/** Debian's libraries that stubs of grpc-java need. */
const JAR_NAMES =
  "grpc-api grpc-context grpc-core grpc-netty grpc-protobuf grpc-protobuf-lite grpc-stub guava protobuf " +
  "proto-google-common-protos perfmark-api gson geronimo-annotation-1.3-spec netty-buffer netty-codec " +
  "netty-codec-http netty-codec-http2 netty-codec-socks netty-common netty-handler netty-handler-proxy " +
  "netty-resolver netty-transport netty-transport-native-unix-common";
const JARS = JAR_NAMES.split(" ").map((name) => join(JAVA, `${name}.jar`));

const GO_FILES = ["examples/go/main.go", "test/clients/debian_codec.go"];

const run = promisify(execFile);

export interface Toolchain {
  readonly language: "python" | "go" | "java" | "typescript" | "connect";
  /** What must be there, as Debian's packages install it. */
  readonly tools: readonly string[];
  readonly packages: string;
  /** Makes and compiles in an empty folder. Rejects with what the tools print. */
  readonly make: (folder: string) => Promise<void>;
  /** The program and its first arguments. */
  readonly command: (folder: string) => readonly [string, ...string[]];
  readonly env?: (folder: string) => Readonly<Record<string, string>>;
}

const OURS = protoFiles("tollgate").filter((file) => !file.startsWith("tollgate/internal/"));

export const TOOLCHAINS: readonly Toolchain[] = [
  {
    language: "python",
    tools: ["/usr/bin/python3", "/usr/bin/grpc_python_plugin"],
    packages: "protobuf-compiler libprotobuf-dev protobuf-compiler-grpc python3-grpcio python3-protobuf",
    make: async (folder) => {
      const plugin = "--plugin=protoc-gen-grpc_python=/usr/bin/grpc_python_plugin";
      const files = [...OURS, ...protoFiles("google")];
      await protoc([plugin, `--python_out=${folder}`, `--grpc_python_out=${folder}`], files);
      await silently("/usr/bin/python3", ["-W", "error", "-m", "compileall", "-q", folder]);
    },
    command: () => ["/usr/bin/python3", "examples/python/main.py"],
    env: (folder) => ({ PYTHONPATH: folder, PYTHONDONTWRITEBYTECODE: "1" }),
  },
  {
    language: "go",
    tools: ["/usr/bin/go", "/usr/bin/protoc-gen-go", "/usr/bin/protoc-gen-go-grpc"],
    packages: "golang-go protoc-gen-go protoc-gen-go-grpc golang-google-grpc-dev golang-github-golang-protobuf-1-5-dev",
    make: async (folder) => {
      const out = join(folder, "src");
      mkdirSync(out);
      await protoc([`--go_out=${out}`, `--go-grpc_out=${out}`], OURS);
      const files = GO_FILES.map((path) => join(folder, basename(path)));
      GO_FILES.forEach((path, index) => cpSync(path, files[index]!));
      const env = { GO111MODULE: "off", GOPATH: `${folder}:/usr/share/gocode`, GOFLAGS: "-trimpath" };
      await silently("/usr/bin/go", ["build", "-o", join(folder, "client"), ...files], env);
    },
    command: (folder) => [join(folder, "client")],
  },
  {
    language: "java",
    tools: ["/usr/bin/javac", "/usr/bin/grpc_java_plugin", ...JARS],
    packages:
      "default-jdk-headless libgrpc-java protobuf-compiler-grpc-java-plugin libprotobuf-java libnetty-java " +
      "libperfmark-java libgoogle-common-protos-java libgoogle-gson-java libgeronimo-annotation-1.3-spec-java",
    make: async (folder) => {
      const sources = join(folder, "sources");
      mkdirSync(sources);
      const plugin = "--plugin=protoc-gen-grpc-java=/usr/bin/grpc_java_plugin";
      // Debian's library of Google's own messages is older than error details.
      const files = [...OURS, "google/rpc/error_details.proto"];
      await protoc([plugin, `--java_out=${sources}`, `--grpc-java_out=${sources}`], files);
      const names = readdirSync(sources, { recursive: true, encoding: "utf8" }).filter((name) =>
        name.endsWith(".java"),
      );
      // A compiler that runs once is not worth a second compilation of itself.
      const once = ["-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC"];
      const options = [...once, "-proc:none", "-cp", JARS.join(":"), "-d", join(folder, "classes")];
      const paths = names.map((name) => join(sources, name));
      await silently("/usr/bin/javac", [...options, ...paths, "examples/java/Example.java"]);
    },
    command: (folder) => ["/usr/bin/java", "-cp", [join(folder, "classes"), ...JARS].join(":"), "Example"],
  },
  inTypeScript("typescript", "protoc-gen-ts_proto", (stubs) => [
    `--ts_proto_out=${stubs}`,
    "--ts_proto_opt=outputServices=grpc-js,oneof=unions-value,forceLong=bigint,importSuffix=.js,env=node",
  ]),
  inTypeScript("connect", "protoc-gen-es", (stubs) => [`--es_out=${stubs}`, "--es_opt=target=ts,import_extension=js"]),
];

/** A plugin of npm's, and the example compiled with its stubs. */
function inTypeScript(language: "typescript" | "connect", plugin: string, out: (stubs: string) => string[]): Toolchain {
  return {
    language,
    tools: ["/usr/bin/protoc"],
    packages: "protobuf-compiler libprotobuf-dev",
    make: async (folder) => {
      const stubs = join(folder, "stubs");
      mkdirSync(stubs);
      await protoc(
        [`--plugin=${join("node_modules/.bin", plugin)}`, ...out(stubs)],
        [...OURS, ...protoFiles("google")],
      );
      cpSync(`examples/${language}/main.ts`, join(folder, "main.ts"));
      symlinkSync(resolve("node_modules"), join(folder, "node_modules"));
      writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
      const options = ["--strict", "--target", "es2022", "--module", "nodenext", "--skipLibCheck", "--types", "node"];
      const compiler = resolve("node_modules/typescript/bin/tsc");
      await silently(process.execPath, [compiler, ...options, "--outDir", folder, join(folder, "main.ts")]);
    },
    command: (folder) => [process.execPath, join(folder, "main.js")],
  };
}

/** Which tools of a language are missing, and what installs them; empty where none is. */
export function missingTools({ tools, packages }: Toolchain): string {
  const missing = tools.filter((tool) => !existsSync(tool));
  return missing.length === 0 ? "" : `${missing.join(", ")} missing: apt-get install ${packages}`;
}

/** What the example of a language prints. */
export async function runExample(
  { language, make, command, env }: Toolchain,
  folder: string,
  args: readonly string[],
): Promise<Readonly<Record<string, unknown>>> {
  const own = join(folder, language);
  mkdirSync(own);
  await make(own);
  const [program, ...first] = command(own);
  const options = { timeout: RUN_MS_MAX, env: { ...process.env, ...env?.(own) } };
  const { stdout } = await run(program, [...first, ...args], options);
  return JSON.parse(stdout);
}

function protoFiles(folder: string): string[] {
  const names = readdirSync(join("proto", folder), { recursive: true, encoding: "utf8" });
  return names.filter((name) => name.endsWith(".proto")).map((name) => `${folder}/${name}`);
}

async function protoc(options: readonly string[], files: readonly string[]): Promise<void> {
  await silently("/usr/bin/protoc", ["-I", "proto", ...options, ...files]);
}

/** Runs a compiler that may not say anything: a warning is a failure. */
async function silently(program: string, args: readonly string[], env: object = {}): Promise<void> {
  const { stdout, stderr } = await run(program, [...args], { timeout: RUN_MS_MAX, env: { ...process.env, ...env } });
  // Where a variable sets its options, Java says so.
  const told = (stdout + stderr).split("\n").filter((line) => line !== "" && !line.startsWith("Picked up "));
  if (told.length > 0) throw new Error(`${program} is not silent: ${told.join("\n")}`);
}
