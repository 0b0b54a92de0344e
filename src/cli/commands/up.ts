/** `k8ts up`: runs a cluster in this process until a signal, or in the background. */
import { isPipe } from "../../host/files/files.ts";
import { mentions, type Command, type Environment, type Io } from "../framework/command.ts";
import { parseArguments, type Parsed } from "../framework/flags.ts";
import { readFileFlag } from "../framework/file-flag.ts";
import { readConfigFile, type ConfigFile, type ConfigValue } from "../framework/config-file.ts";
import { runCluster } from "../../cluster/run-cluster.ts";
import { COMMAND_LINE_ONLY, allUpFlags } from "../../cluster/up-flags.ts";
import { upFileChecks, upOptions, type CommandLineFlags, type UpOptions } from "../../cluster/up-options.ts";
import { problemsOfFiles } from "../framework/check-files.ts";
import { UnusableFiles } from "../framework/unusable-files.ts";

interface TypedWords {
  /** Path given with --config. */
  readonly file: string | undefined;
  readonly values: CommandLineFlags;
  /** Problems of individual flags, and the flags that were rejected. */
  readonly problems: readonly string[];
  readonly refused: readonly string[];
}

/** Flags are complete only together with the file, which is read when the command runs. */
interface WithFile {
  readonly file: string;
  readonly typed: TypedWords;
}

export const up: Command<UpOptions | WithFile> = {
  description:
    "Start a cluster and run it until Ctrl-C (SIGINT) or SIGTERM, or in the background with --detach. " +
    "A second signal terminates it immediately. Its data is kept for the next start unless the store is in memory.",
  flags: allUpFlags,
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
    const typed = readTyped(argv);
    const { file, problems } = typed;
    if (file === undefined) return allTogether(typed, undefined, environment);
    return problems.length > 0 ? { ok: false, problems } : { ok: true, options: { file, typed } };
  },

  async fileProblems(argv, environment) {
    const typed = readTyped(argv);
    const { file } = typed;
    // A pipe can be read only once, so it is left to `run`.
    if (file !== undefined && typed.problems.length === 0 && (await isPipe(file))) return [];
    if (file === undefined) return withoutRefused(await problemsOfFiles(upFileChecks(typed.values, undefined)), typed);
    const read = await readWithFile({ file, typed }, environment);
    return read.ok ? [] : read.problems;
  },

  async run(options, io) {
    await runCluster("file" in options ? await withFile(options, io) : options, io);
  },
};

function readTyped(argv: readonly string[]): TypedWords {
  const { values, given, problems, refused } = parseArguments({ flags: allUpFlags, arguments: {} }, argv);
  const typed = new Map([...given].map((name) => [name, values[name as keyof typeof values] as ConfigValue]));
  return { file: values.config, values: typed, problems, refused };
}

async function withFile(options: WithFile, { clock, environment }: Io): Promise<UpOptions> {
  const read = await clock.external(readWithFile(options, environment));
  if (!read.ok) throw new UnusableFiles(read.problems);
  return read.options;
}

/** All problems of the file, of its combination with the flags, and of the files that either refers to; not those of the flags alone. */
async function readWithFile({ file, typed }: WithFile, environment: Environment): Promise<Parsed<UpOptions>> {
  const text = await readFileFlag(file, "--config").catch((error: Error) => error);
  if (text instanceof Error) {
    const others = await problemsOfFiles(upFileChecks(typed.values, undefined));
    return { ok: false, problems: withoutRefused([text.message, ...others], typed) };
  }
  const config = readConfigFile(file, text, allUpFlags, COMMAND_LINE_ONLY);
  const parsed = allTogether({ ...typed, problems: [] }, config, environment);
  const problems = withoutRefused(await problemsOfFiles(upFileChecks(typed.values, config)), typed);
  if (parsed.ok && problems.length === 0) return parsed;
  return { ok: false, problems: [...(parsed.ok ? [] : parsed.problems), ...problems] };
}

/** Problems of individual flags first, then invalid combinations, except those that involve a rejected flag. */
function allTogether(typed: TypedWords, config: ConfigFile | undefined, environment: Environment): Parsed<UpOptions> {
  const parsed = upOptions(typed.values, config, environment);
  if (parsed.ok && typed.problems.length === 0) return parsed;
  return { ok: false, problems: [...typed.problems, ...(parsed.ok ? [] : withoutRefused(parsed.problems, typed))] };
}

function withoutRefused(problems: readonly string[], { refused }: TypedWords): readonly string[] {
  return problems.filter((problem) => !mentions(problem, refused));
}
