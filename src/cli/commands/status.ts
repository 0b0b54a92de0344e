/** `k8ts status`: shows the state of a cluster, its components, nodes and Pods. */
import { defineCommand, type Command } from "../framework/command.ts";
import { findHome, type ClusterHome } from "../../cluster/home/cluster-home.ts";
import { chooseHome, homeFlags, type HomeChoice } from "../../cluster/home/home-flags.ts";
import { DEFAULT_NAME } from "../../cluster/home/home-paths.ts";
import { knownHomes } from "../../cluster/home/known-homes.ts";
import { observeCluster, type ClusterStatus } from "../../cluster/observe-cluster.ts";
import { statusLines, statusObject } from "../../cluster/status-lines.ts";
import { ProgramEnded } from "../framework/program-exited.ts";
import { expandShortFlags } from "../framework/short-flags.ts";

/** Exit code of systemctl for a service that is not running. */
const NOT_RUNNING = 3;

interface StatusOptions {
  readonly home: HomeChoice;
  readonly isForAll: boolean;
  readonly format: "text" | "json";
}

const longStatus = defineCommand({
  description:
    "Show the state of a local cluster: its processes, nodes, Pods by phase, versions and addresses. The exit code is 0 if the cluster is running and 3 if not; with --all it is always 0.",
  flags: {
    ...homeFlags,
    all: { type: "boolean", doc: "List all clusters of this user on this machine." },
    output: { type: "choice", of: ["text", "json"], placeholder: "FORMAT", default: "text", doc: "Output format. Short form: -o." },
  },
  arguments: {},
  examples: ["k8ts status", "k8ts status --name second", "k8ts status --all", "k8ts status -o json"],

  options(values, environment) {
    const home = chooseHome(values, environment);
    if (!home.ok) return home;
    if (values.all && (values.name !== undefined || values["data-dir"] !== undefined))
      return { ok: false, problems: ["--all lists every cluster; leave out --name and --data-dir"] };
    return { ok: true, options: { home: home.options, isForAll: values.all, format: values.output } };
  },

  async run({ home: choice, isForAll, format }: StatusOptions, { out, note, environment, clock }) {
    const onIgnored = (problem: string): void => note(`Ignored: ${problem}`);
    const homes = isForAll ? await knownHomes(environment, onIgnored) : optional(await findHome(choice, environment));
    const options = { clock, userHome: environment["HOME"] };
    const found = await clock.external(Promise.all(homes.map((home) => observeCluster(home, options))));
    if (isForAll) return showAll(found, format, out);
    if (found[0] === undefined)
      note(
        `There is no cluster in ${choice.directory}: start one with "k8ts up", or list the clusters of this machine with "k8ts status --all"`,
      );
    const status = found[0] ?? missing(choice);
    if (format === "json") out(JSON.stringify(statusObject(status), undefined, 2));
    else for (const line of statusLines(status)) out(line);
    if (["stopped", "killed"].includes(status.state)) throw new ProgramEnded(NOT_RUNNING);
  },
});

export const status: Command<StatusOptions> = {
  ...longStatus,
  parse: (argv, environment) => longStatus.parse(expandShortFlags(argv, { o: "output" }), environment),
};

function showAll(found: readonly ClusterStatus[], format: StatusOptions["format"], out: (line: string) => void): void {
  if (format === "json") return out(JSON.stringify(found.map(statusObject), undefined, 2));
  if (found.length === 0) out("No clusters found");
  for (const line of found.flatMap(statusLines)) out(line);
}

/** Never created, or deleted. */
function missing({ name = DEFAULT_NAME, directory }: HomeChoice): ClusterStatus {
  return { name, directory, state: "stopped" };
}

function optional(home: ClusterHome | undefined): readonly ClusterHome[] {
  return home === undefined ? [] : [home];
}
