/** `k8ts up`: a cluster in this process, from start to signal, or in the background. */
import { isPipe } from "../../host/files/files.ts";
import { mentions, type Command, type Environment, type Io } from "../framework/command.ts";
import { parseArguments, type Parsed } from "../framework/flags.ts";
import { readGiven } from "../framework/file-flag.ts";
import { readConfigFile, type ConfigFile, type ConfigValue } from "../framework/config-file.ts";
import { runCluster } from "../../cluster/run-cluster.ts";
import { ONLY_TYPED, upFlags } from "../../cluster/up-flags.ts";
import { upLooks, upOptions, type Typed, type UpOptions } from "../../cluster/up-options.ts";
import { problemsOfFiles } from "../framework/check-files.ts";
import { UnusableFiles } from "../framework/unusable-files.ts";

interface TypedWords {
  /** What --config names. */
  readonly file: string | undefined;
  readonly values: Typed;
  /** What is wrong with the words one by one, and with which. */
  readonly problems: readonly string[];
  readonly refused: readonly string[];
}

/** What was typed means something only with the file, which is read when the command runs. */
interface WithFile {
  readonly file: string;
  readonly typed: TypedWords;
}

export const up: Command<UpOptions | WithFile> = {
  description:
    "Start a cluster and run it until Ctrl-C (SIGINT) or SIGTERM, or in the background with --detach. " +
    "A second signal terminates it immediately. Its data is kept for the next start unless the store is in memory.",
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
    const typed = readTyped(argv);
    const { file, problems } = typed;
    if (file === undefined) return allTogether(typed, undefined, environment);
    return problems.length > 0 ? { ok: false, problems } : { ok: true, options: { file, typed } };
  },

  async fileProblems(argv, environment) {
    const typed = readTyped(argv);
    const { file } = typed;
    // What comes through a pipe can be read only once, and is left to `run`, if it comes to that.
    if (file !== undefined && typed.problems.length === 0 && (await isPipe(file))) return [];
    if (file === undefined) return withoutRefused(await problemsOfFiles(upLooks(typed.values, undefined)), typed);
    const read = await readWithFile({ file, typed }, environment);
    return read.ok ? [] : read.problems;
  },

  async run(options, io) {
    await runCluster("file" in options ? await withFile(options, io) : options, io);
  },
};

function readTyped(argv: readonly string[]): TypedWords {
  const { values, given, problems, refused } = parseArguments({ flags: upFlags, arguments: {} }, argv);
  const typed = new Map([...given].map((name) => [name, values[name as keyof typeof values] as ConfigValue]));
  return { file: values.config, values: typed, problems, refused };
}

async function withFile(options: WithFile, { clock, environment }: Io): Promise<UpOptions> {
  const read = await clock.external(readWithFile(options, environment));
  if (!read.ok) throw new UnusableFiles(read.problems);
  return read.options;
}

/** All that is wrong in the file, with what was typed, and with files that either of them names; but for the typed words alone. */
async function readWithFile({ file, typed }: WithFile, environment: Environment): Promise<Parsed<UpOptions>> {
  const text = await readGiven(file, "--config").catch((error: Error) => error);
  if (text instanceof Error) {
    const others = await problemsOfFiles(upLooks(typed.values, undefined));
    return { ok: false, problems: withoutRefused([text.message, ...others], typed) };
  }
  const config = readConfigFile(file, text, upFlags, ONLY_TYPED);
  const parsed = allTogether({ ...typed, problems: [] }, config, environment);
  const problems = withoutRefused(await problemsOfFiles(upLooks(typed.values, config)), typed);
  if (parsed.ok && problems.length === 0) return parsed;
  return { ok: false, problems: [...(parsed.ok ? [] : parsed.problems), ...problems] };
}

/** What is wrong with the words first, then what is wrong in combination, without what may follow from a word that was refused. */
function allTogether(typed: TypedWords, config: ConfigFile | undefined, environment: Environment): Parsed<UpOptions> {
  const parsed = upOptions(typed.values, config, environment);
  if (parsed.ok && typed.problems.length === 0) return parsed;
  return { ok: false, problems: [...typed.problems, ...(parsed.ok ? [] : withoutRefused(parsed.problems, typed))] };
}

function withoutRefused(problems: readonly string[], { refused }: TypedWords): readonly string[] {
  return problems.filter((problem) => !mentions(problem, refused));
}
