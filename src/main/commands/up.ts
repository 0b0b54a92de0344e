/** `k8ts up`: a cluster in this process, from start to signal, or in the background. */
import { readFile } from "node:fs/promises";
import { mentions, type Command, type Environment } from "../command.ts";
import { parseArguments, type Parsed } from "../flags.ts";
import { readConfigFile, type ConfigFile, type ConfigValue } from "../home/config-file.ts";
import { runCluster } from "../home/run-cluster.ts";
import { ONLY_TYPED, upFlags } from "../home/up-flags.ts";
import { upOptions, type Typed, type UpOptions } from "../home/up-options.ts";
import { UnusableFiles } from "../unusable-files.ts";

/** What was typed. What it means is known only with the file, which is read when the command runs. */
interface WithFile {
  readonly file: string;
  readonly typed: Typed;
  readonly problems: readonly string[];
  readonly refused: readonly string[];
}

export const up: Command<UpOptions | WithFile> = {
  description:
    "Starts a cluster in this process and keeps it running until Ctrl-C (SIGINT) or SIGTERM, or in the background with --detach. " +
    "A second signal ends it at once. Its data is kept for the next start, unless it is only in memory.",
  flags: upFlags,
  arguments: {},
  examples: [
    "k8ts up",
    "k8ts up --detach",
    "k8ts up --processes",
    "k8ts up --simulated-nodes 3",
    "k8ts up --in-memory --listen 127.0.0.1:0",
    "k8ts up --name second --listen 127.0.0.1:7443",
    "k8ts up --config cluster.yaml",
    "k8ts up --etcd-servers https://10.0.0.1:2379,https://10.0.0.2:2379 --etcd-cafile ca.pem",
  ],

  parse(argv, environment) {
    const { values, given, problems, refused } = parseArguments({ flags: upFlags, arguments: {} }, argv);
    const typed = new Map([...given].map((name) => [name, values[name as keyof typeof values] as ConfigValue]));
    if (values.config !== undefined) return { ok: true, options: { file: values.config, typed, problems, refused } };
    return allTogether({ typed, problems, refused }, undefined, environment);
  },

  async run(options, io) {
    await runCluster("file" in options ? await withFile(options, io.environment) : options, io);
  },
};

/** By the system's code. */
const UNREADABLE: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  EISDIR: "it is a directory and no file",
  ENOTDIR: "a part of the path is a file",
  EACCES: "this user may not read it",
};

async function withFile(options: WithFile, environment: Environment): Promise<UpOptions> {
  const { file } = options;
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    const problem = `Cannot read ${file}, which --config names: ${UNREADABLE[error.code ?? ""] ?? error.message}`;
    throw new UnusableFiles([...options.problems, problem]);
  });
  const parsed = allTogether(options, readConfigFile(file, text, upFlags, ONLY_TYPED), environment);
  if (!parsed.ok) throw new UnusableFiles(parsed.problems);
  return parsed.options;
}

/** What is wrong with the words first, then what is wrong in combination, without what may follow from a word that was refused. */
function allTogether(
  { typed, problems, refused }: Omit<WithFile, "file">,
  file: ConfigFile | undefined,
  environment: Environment,
): Parsed<UpOptions> {
  const parsed = upOptions(typed, file, environment);
  if (parsed.ok && problems.length === 0) return parsed;
  const further = parsed.ok ? [] : parsed.problems.filter((problem) => !mentions(problem, refused));
  return { ok: false, problems: [...problems, ...further] };
}
