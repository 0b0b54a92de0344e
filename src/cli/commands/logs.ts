/** `k8ts logs`: what a cluster of this machine has logged. */
import { defineCommand, type Command } from "../framework/command.ts";
import { followLines } from "../../host/files/follow-file.ts";
import { fileExists } from "../../host/files/files.ts";
import { findHome } from "../../cluster/home/cluster-home.ts";
import { LOGGED_PARTS, partLog } from "../../cluster/home/home-paths.ts";
import { chooseHome, homeFlags, type HomeChoice } from "../../cluster/home/home-flags.ts";
import { nearest } from "../framework/suggestion.ts";
import { expandShortFlags } from "../framework/short-flags.ts";

interface LogsOptions {
  readonly home: HomeChoice;
  readonly follows: boolean;
  /** The last so many lines of what there is. Absent: all. */
  readonly tail?: number;
  /** Only lines of this part. */
  readonly part?: string;
}

/** What lines of a log name as their part. */
const PARTS: readonly string[] = [...LOGGED_PARTS, "store", "compaction", "expiry"];

const longLogs = defineCommand({
  description:
    "Prints the log of a cluster of this machine, also of one that has stopped: that of the last start. Of one whose parts have processes of their own, each part has a log of its own. Logs of Pods are shown by kubectl logs.",
  flags: {
    ...homeFlags,
    follow: { type: "boolean", doc: "Goes on with what comes, until Ctrl-C; also -f." },
    tail: { type: "number", min: 0, placeholder: "LINES", doc: "Only the last so many lines of what there is. Default: all." },
  },
  arguments: {
    part: { doc: "Only lines of one part, such as apiserver, controllers, scheduler, kubelet, nodes or store.", optional: true },
  },
  examples: ["k8ts logs", "k8ts logs -f --tail 20", "k8ts logs kubelet", "k8ts logs --name second"],

  options(values, environment) {
    const home = chooseHome(values, environment);
    if (!home.ok) return home;
    const { follow: follows, tail, part } = values;
    if (part !== undefined && !PARTS.includes(part)) return { ok: false, problems: [unknownPart(part)] };
    return {
      ok: true,
      options: { home: home.options, follows, ...(tail === undefined ? {} : { tail }), ...(part === undefined ? {} : { part }) },
    };
  },

  async run({ home: choice, follows, tail, part }: LogsOptions, { out, environment, signal }) {
    const home = await findHome(choice, environment);
    if (home === undefined || !(await fileExists(home.logFile)))
      throw new Error(`Cannot show a log: there is none in ${choice.directory}; "k8ts status --all" shows which clusters there are`);
    const ownLog = LOGGED_PARTS.map((name) => ({ name, file: partLog(home, name) })).find(({ name }) => name === part)?.file;
    const isOwn = ownLog !== undefined && (await fileExists(ownLog));
    const isWanted = part === undefined || isOwn ? () => true : isOfPart(part);
    const lines = followLines(isOwn ? ownLog : home.logFile, { follows, isWanted, signal, ...(tail === undefined ? {} : { tail }) });
    for await (const line of lines) out(line);
  },
});

function unknownPart(part: string): string {
  const meant = nearest(part, PARTS);
  const suggestion = meant === undefined ? "" : `; did you mean ${meant}?`;
  return `Unknown part ${JSON.stringify(part)}, the parts are ${PARTS.join(", ")}${suggestion}`;
}

/** Log lines name their part as one of their fields. */
function isOfPart(part: string): (line: string) => boolean {
  return (line) => line.split(" ").includes(`part=${part}`);
}

export const logs: Command<LogsOptions> = {
  ...longLogs,
  parse: (argv, environment) => longLogs.parse(expandShortFlags(argv, { f: "follow" }), environment),
};
