/** `k8ts logs`: prints the logs of a local cluster. */
import { defineCommand, type Command } from "../framework/command.ts";
import { followLines } from "../../host/files/follow-file.ts";
import { fileExists } from "../../host/files/files.ts";
import { findHome } from "../../cluster/home/cluster-home.ts";
import { LOGGED_COMPONENTS, componentLog } from "../../cluster/home/home-paths.ts";
import { chooseHome, homeFlags, type HomeChoice } from "../../cluster/home/home-flags.ts";
import { nearest } from "../framework/suggestion.ts";
import { expandShortFlags } from "../framework/short-flags.ts";

interface LogsOptions {
  readonly home: HomeChoice;
  readonly follows: boolean;
  /** Number of most recent lines. Absent: all. */
  readonly tail?: number;
  /** Absent: all components. */
  readonly component?: string;
}

/** Component names in log lines. */
const COMPONENTS: readonly string[] = [...LOGGED_COMPONENTS, "store", "compaction", "expiry"];

const longLogs = defineCommand({
  description:
    "Print the logs of a local cluster; of a stopped cluster, those of its last run. With --processes each component has a log file. For Pod logs use kubectl logs.",
  flags: {
    ...homeFlags,
    follow: { type: "boolean", doc: "Follow the log until Ctrl-C. Short form: -f." },
    tail: { type: "number", min: 0, placeholder: "LINES", doc: "Number of most recent lines to print. Default: all." },
  },
  arguments: {
    component: { doc: "Print only this component's lines: apiserver, controllers, scheduler, kubelet, nodes or store.", optional: true },
  },
  examples: ["k8ts logs", "k8ts logs -f --tail 20", "k8ts logs kubelet", "k8ts logs --name second"],

  options(values, environment) {
    const home = chooseHome(values, environment);
    if (!home.ok) return home;
    const { follow: follows, tail, component } = values;
    if (component !== undefined && !COMPONENTS.includes(component)) return { ok: false, problems: [unknownComponent(component)] };
    return {
      ok: true,
      options: { home: home.options, follows, ...(tail === undefined ? {} : { tail }), ...(component === undefined ? {} : { component }) },
    };
  },

  async run({ home: choice, follows, tail, component }: LogsOptions, { out, environment, signal }) {
    const home = await findHome(choice, environment);
    if (home === undefined || !(await fileExists(home.logFile)))
      throw new Error(`Cannot print logs: no log files in ${choice.directory}; "k8ts status --all" lists the clusters of this machine`);
    const ownLog = LOGGED_COMPONENTS.map((name) => ({ name, file: componentLog(home, name) })).find(({ name }) => name === component)?.file;
    const isOwn = ownLog !== undefined && (await fileExists(ownLog));
    const isWanted = component === undefined || isOwn ? () => true : isOfComponent(component);
    const lines = followLines(isOwn ? ownLog : home.logFile, { follows, isWanted, signal, ...(tail === undefined ? {} : { tail }) });
    for await (const line of lines) out(line);
  },
});

function unknownComponent(component: string): string {
  const meant = nearest(component, COMPONENTS);
  const suggestion = meant === undefined ? "" : `; did you mean ${meant}?`;
  return `Unknown component ${JSON.stringify(component)}; the components are ${COMPONENTS.join(", ")}${suggestion}`;
}

/** Log lines have their component as a field. */
function isOfComponent(component: string): (line: string) => boolean {
  return (line) => line.split(" ").includes(`part=${component}`);
}

export const logs: Command<LogsOptions> = {
  ...longLogs,
  parse: (argv, environment) => longLogs.parse(expandShortFlags(argv, { f: "follow" }), environment),
};
