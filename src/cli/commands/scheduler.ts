/** `k8ts scheduler`: runs the scheduler as a separate process until a signal. */
import { httpsTransport } from "../../client/https/https-transport.ts";
import type { LeaderElection, SchedulerConfiguration } from "../../scheduler/config/scheduler-configuration.ts";
import type { RunningScheduler } from "../../scheduler/scheduler.ts";
import { defineCommand } from "../framework/command.ts";
import { isPipe } from "../../host/files/files.ts";
import { connectionFlags, connectionFileCheck, loadConnection } from "../../config/connection-flags.ts";
import { decisionsPage } from "../../components/pages/decisions-page.ts";
import { serveDecisions } from "../../components/pages/decisions-socket.ts";
import { DECISIONS_PATH } from "../../explain/explain-api.ts";
import type { FlagValues } from "../framework/flags.ts";
import {
  electionOf,
  leaderElectFlags,
  leaderElectProblems,
  runLeaderElectedCommand,
  type LeaderElectValues,
} from "../shared/leader-elected-command.ts";
import { problemsIn, problemsOfFiles } from "../framework/check-files.ts";
import { metricsFlags } from "../../components/pages/metrics-pages.ts";
import { readSchedulerConfig, schedulerConfigFlag } from "../../config/scheduler-config.ts";
import { SCHEDULER_AGENT, SCHEDULER_LEASE, startLeaderElectedScheduler } from "../../components/scheduler.ts";
import { UnusableFiles } from "../framework/unusable-files.ts";

const flags = {
  ...connectionFlags,
  config: schedulerConfigFlag,
  ...leaderElectFlags(SCHEDULER_LEASE),
  ...metricsFlags,
  "decisions-socket": {
    type: "string",
    placeholder: "FILE",
    doc: "Serve scheduling decisions at this Unix socket to an API server on this machine (--scheduler-decisions-socket). The directory must be private.",
  },
} as const;

export const scheduler = defineCommand({
  description:
    "Assign the Pods of a cluster to nodes until Ctrl-C (SIGINT) or SIGTERM. With leader election several instances can run: one is active, the others are on standby. Schedulers with another schedulerName in --config use a Lease of their own. Leader election settings and kubeconfig of the --config file apply unless a flag overrides them.",
  flags,
  arguments: {},
  examples: [
    "k8ts scheduler --kubeconfig pki/kubeconfigs/scheduler.conf",
    "k8ts scheduler --config scheduler.yaml --leader-elect-resource-name second-scheduler",
    "k8ts scheduler --leader-elect=false --metrics-address 127.0.0.1:10259",
  ],
  options(values, _environment, given) {
    // Combinations are validated after the file is read: it may supply what the flags alone lack.
    const problems = values.config === undefined ? leaderElectProblems(values) : [];
    return problems.length === 0 ? { ok: true, options: { values, given } } : { ok: false, problems };
  },

  async fileProblems(values, environment, given) {
    if (values.config === undefined || (await isPipe(values.config))) return problemsOfFiles(connectionFileCheck(values, environment));
    const { problems, kubeconfig } = await readGivenConfig({ values, given });
    return [...problems, ...(await problemsOfFiles(connectionFileCheck({ ...values, kubeconfig }, environment)))];
  },

  async run({ values, given }, io) {
    const { clock, log } = io;
    const { problems, configuration, elects, kubeconfig } = await clock.external(readGivenConfig({ values, given }));
    if (problems.length > 0 || configuration === undefined) throw new UnusableFiles(problems);
    const connection = await loadConnection({ ...values, kubeconfig }, io);
    const socket = values["decisions-socket"];
    io.out(`scheduling Pods of ${configuration.profiles.map(({ schedulerName }) => schedulerName).join(", ")}`);
    await runLeaderElectedCommand<RunningScheduler>(
      {
        what: "scheduler",
        connection,
        election: electionOf(elects),
        metricsAddress: values["metrics-address"],
        pages: (acting) => ({ [DECISIONS_PATH]: decisionsPage(acting) }),
        serve: (acting) => (socket === undefined ? undefined : serveDecisions(socket, acting)),
        start(context, owner, counted) {
          const transport = counted(owner.use(httpsTransport(connection, { clock, log, userAgent: SCHEDULER_AGENT })));
          return startLeaderElectedScheduler({ ...context, configuration, transportFor: () => transport });
        },
      },
      io,
    );
  },
});

interface Given {
  readonly values: FlagValues<typeof flags>;
  /** Names of the flags that were set on the command line. */
  readonly given: ReadonlySet<string>;
}

interface Read {
  readonly problems: readonly string[];
  readonly kubeconfig: string | undefined;
  /** Absent if there are problems. */
  readonly configuration?: SchedulerConfiguration;
  readonly elects: LeaderElectValues;
}

/** Merges file and flags; a flag on the command line wins. */
async function readGivenConfig({ values, given }: Given): Promise<Read> {
  const configuration = await readSchedulerConfig(values.config, "--config").catch((error: Error) => error);
  if (configuration instanceof Error) return { problems: problemsIn(configuration), kubeconfig: values.kubeconfig, elects: values };
  const elects =
    values.config === undefined ? values : { ...values, ...writtenElection(configuration.leaderElection), ...only(values, given) };
  const problems = leaderElectProblems(elects).map((problem) => `Cannot take part in leader election: ${problem}`);
  return { problems, kubeconfig: values.kubeconfig ?? (configuration.kubeconfig || undefined), configuration, elects };
}

/** Leader election settings of the file, as flag values. */
function writtenElection(written: LeaderElection): LeaderElectValues {
  return {
    "leader-elect": written.leaderElect,
    "leader-elect-lease-duration": `${written.leaseDurationMs}ms`,
    "leader-elect-renew-deadline": `${written.renewDeadlineMs}ms`,
    "leader-elect-retry-period": `${written.retryPeriodMs}ms`,
    "leader-elect-resource-name": written.resourceName,
    "leader-elect-resource-namespace": written.resourceNamespace,
  };
}

function only<Values extends object>(values: Values, names: ReadonlySet<string>): Partial<Values> {
  return Object.fromEntries(Object.entries(values).filter(([name]) => names.has(name))) as Partial<Values>;
}
